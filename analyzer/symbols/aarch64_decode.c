/* Decodes instructions of aarch64. What may write a register is taken to write it. */
#include <elf.h>
#include <string.h>

#include "symbols/aarch64_operands.h"
#include "symbols/code_machine.h"

enum { WORD = AARCH64_WORD, NO_REGISTER = CODE_NONE /* sp, or zero */ };

static uint32_t bit_of(unsigned number)
{
    return number == NO_REGISTER ? 0 : 1u << number;
}

static void set_target(struct code_insn *insn, enum insn_kind kind, uint64_t address, int64_t words)
{
    insn->kind = kind;
    insn->value = address + (uint64_t)(words * WORD);
}

/* Jumps, calls, and what the system sees. */
static void decode_branch(uint32_t word, uint64_t address, struct code_insn *insn)
{
    if ((word & 0x7c000000) == 0x14000000) {
        set_target(insn, word >> 31 ? CODE_CALL : CODE_JUMP, address, aarch64_signed_bits(word, 0, 26));
    } else if ((word & 0xfe000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
        set_target(insn, CODE_BRANCH, address, aarch64_signed_bits(word, 5, 19));
    } else if ((word & 0x7e000000) == 0x36000000) {
        set_target(insn, CODE_BRANCH, address, aarch64_signed_bits(word, 5, 14));
    } else if ((word & 0xfe000000) == 0xd6000000) { /* blr has 1 there, with or without authentication; br 0 */
        const uint32_t kind = aarch64_bits(word, 21, 3);
        insn->kind = kind == 1 ? CODE_CALL_ANY : kind == 0 ? CODE_JUMP_ANY : CODE_END;
    } else if ((word & 0xff000000) == 0xd4000000) { /* svc goes on, and changes x0; others are traps */
        insn->kind = aarch64_bits(word, 0, 5) == 1 ? CODE_OTHER : CODE_END;
        insn->writes = 1;
    } else if ((word & 0xffe00000) == 0xd5200000) { /* mrs, sysl */
        insn->writes = bit_of(aarch64_bits(word, 0, 5));
    }
}

/* Arithmetic without flags whose result is the stack pointer: of a number, with a register that is extended, and of a
 * mask. Number 31 is zero elsewhere. */
static bool moves_stack(uint32_t word)
{
    return aarch64_bits(word, 0, 5) == AARCH64_STACK &&
           ((word & 0x3f800000) == 0x11000000 || (word & 0x3fe00000) == 0x0b200000 ||
            ((word & 0x1f800000) == 0x12000000 && aarch64_bits(word, 29, 2) != 3));
}

/* Numbers, and addresses that they make. */
static void decode_immediate(uint32_t word, uint64_t address, struct code_insn *insn)
{
    const unsigned to = aarch64_bits(word, 0, 5), from = aarch64_bits(word, 5, 5);
    insn->writes = bit_of(to);
    if ((word & 0x1f000000) == 0x10000000 && to != NO_REGISTER) { /* adr, adrp */
        const int64_t number = (int64_t)((uint64_t)aarch64_signed_bits(word, 5, 19) << 2 | aarch64_bits(word, 29, 2));
        insn->kind = CODE_CONSTANT;
        insn->value = word >> 31 ? (address & ~UINT64_C(0xfff)) + (uint64_t)number * 4096 : address + (uint64_t)number;
    } else if ((word & 0xff800000) == 0x91000000 && to != NO_REGISTER && from != NO_REGISTER) {
        insn->kind = CODE_ADD;
        insn->from = (uint8_t)from;
        insn->value = (uint64_t)aarch64_bits(word, 10, 12) << (aarch64_bits(word, 22, 1) ? 12 : 0);
    }
    insn->to = (uint8_t)to;
}

/* Registers that loads and stores change. */
static uint32_t written_by_memory(uint32_t word)
{
    const uint32_t rt = bit_of(aarch64_bits(word, 0, 5)), rn = bit_of(aarch64_bits(word, 5, 5)),
                   rt2 = bit_of(aarch64_bits(word, 10, 5));
    const uint32_t rs = bit_of(aarch64_bits(word, 16, 5)), load = aarch64_bits(word, 22, 1);
    const bool vector = aarch64_bits(word, 26, 1);
    if ((word & 0x3a000000) == 0x28000000) /* pairs */
        return (load && !vector ? rt | rt2 : 0) | (aarch64_bits(word, 23, 1) ? rn : 0);
    if ((word & 0x3b000000) == 0x18000000) /* of what is near to the code */
        return vector ? 0 : rt;
    if ((word & 0x3b000000) == 0x39000000)
        return vector || !aarch64_bits(word, 22, 2) ? 0 : rt;
    if ((word & 0x3b200000) == 0x38000000)
        return (vector || !aarch64_bits(word, 22, 2) ? 0 : rt) | (aarch64_bits(word, 10, 1) ? rn : 0);
    if ((word & 0x3b200c00) == 0x38200800) /* with an index */
        return vector || !aarch64_bits(word, 22, 2) ? 0 : rt;
    if ((word & 0xbf000000) == 0x0c000000 || (word & 0xbf000000) == 0x0d000000)
        return rn;
    return rt | rt2 | rs | rn | rs << 1;
}

static void decode_stack(uint32_t word, struct code_insn *insn)
{
    struct aarch64_memory m;
    if (aarch64_bits(word, 5, 5) != AARCH64_STACK)
        return;
    insn->moves_stack = true;
    if (!aarch64_memory_parse(&m, word) || m.moves)
        return;
    insn->moves_stack = false;
    if (m.load && m.vector)
        return;
    insn->kind = m.load ? CODE_LOAD_STACK : CODE_STORE_STACK;
    insn->value = (uint64_t)m.offset;
    insn->size = (uint8_t)m.size;
    insn->count = (uint8_t)m.count;
    insn->first[0] = m.vector ? NO_REGISTER : (uint8_t)m.first;
    insn->first[1] = m.vector ? NO_REGISTER : (uint8_t)m.next;
}

static void decode_memory(uint32_t word, uint64_t address, struct code_insn *insn)
{
    const unsigned to = aarch64_bits(word, 0, 5), from = aarch64_bits(word, 5, 5);
    insn->writes = written_by_memory(word);
    insn->to = (uint8_t)to;
    decode_stack(word, insn);
    if (to == NO_REGISTER)
        return;
    if ((word & 0xff000000) == 0x58000000) {
        set_target(insn, CODE_LOAD, address, aarch64_signed_bits(word, 5, 19));
    } else if ((word & 0xffc00000) == 0xf9400000 && from != NO_REGISTER) {
        insn->kind = CODE_LOAD_AT;
        insn->from = (uint8_t)from;
        insn->value = (uint64_t)aarch64_bits(word, 10, 12) * sizeof(uint64_t);
    }
}

/* Vectors: conversions to general registers, and moves to them. */
static uint32_t written_by_vectors(uint32_t word)
{
    const bool scalar = (word & 0x5f000000) == 0x1e000000 && (!aarch64_bits(word, 10, 6) || !aarch64_bits(word, 21, 1));
    const bool element = (word & 0x9fe08400) == 0x0e000400;
    return scalar || element ? bit_of(aarch64_bits(word, 0, 5)) : 0;
}

static bool aarch64_decode(const uint8_t *code, size_t room, uint64_t address, struct code_insn *insn)
{
    uint32_t word;
    if (room < WORD || address % WORD)
        return false;
    memcpy(&word, code, sizeof word);
    const uint32_t group = aarch64_bits(word, 25, 4);
    *insn = (struct code_insn){ .kind = CODE_OTHER, .length = WORD };
    if (word >> 16 == 0) /* never an instruction */
        insn->kind = CODE_END;
    else if ((group & 14) == 8)
        decode_immediate(word, address, insn);
    else if ((group & 14) == 10)
        decode_branch(word, address, insn);
    else if ((group & 5) == 4)
        decode_memory(word, address, insn);
    else if ((group & 7) == 7)
        insn->writes = written_by_vectors(word);
    else
        insn->writes = bit_of(aarch64_bits(word, 0, 5));
    insn->moves_stack |= moves_stack(word);
    if ((word & 0xffe0ffe0) == 0xaa0003e0 && aarch64_bits(word, 0, 5) != NO_REGISTER &&
        aarch64_bits(word, 16, 5) != NO_REGISTER) {
        insn->kind = CODE_COPY;
        insn->to = (uint8_t)aarch64_bits(word, 0, 5);
        insn->from = (uint8_t)aarch64_bits(word, 16, 5);
    }
    return true;
}

static bool aarch64_is_padding(const uint8_t *code, size_t length)
{
    uint32_t word = 0;
    memcpy(&word, code, length < sizeof word ? length : sizeof word);
    return word == 0xd503201f || word == 0;
}

/* adrp x16, PAGE; ldr x17, [x16, OFFSET]; add x16, x16, OFFSET; br x17. It may begin with bti c. */
static uint64_t aarch64_stub_slot(const uint8_t *code, size_t room, uint64_t address)
{
    enum { WORDS = 4, X16 = 16 };
    uint32_t words[1 + WORDS];
    struct code_insn page;
    if (room < WORDS * WORD)
        return 0;
    memset(words, 0, sizeof words);
    memcpy(words, code, room < sizeof words ? room : sizeof words);
    const size_t skip = words[0] == 0xd503245f; /* bti c */
    const uint32_t *at = words + skip;
    if (!aarch64_decode(code + skip * WORD, WORD, address + skip * WORD, &page) || page.kind != CODE_CONSTANT ||
        page.to != X16 || (at[1] & 0xffc003ff) != 0xf9400211 || at[3] != 0xd61f0220)
        return 0;
    return page.value + (uint64_t)aarch64_bits(at[1], 10, 12) * sizeof(uint64_t);
}

const struct code_machine code_machine_aarch64 = {
    .relative = R_AARCH64_RELATIVE,
    .slot = R_AARCH64_GLOB_DAT,
    .call_slot = R_AARCH64_JUMP_SLOT,
    .resolved = R_AARCH64_IRELATIVE,
    .address = R_AARCH64_ABS64,
    .caller_saved = 0x4007ffff, /* x0 to x18, x30 */
    .first_argument = 0,
    .decode = aarch64_decode,
    .is_padding = aarch64_is_padding,
    .stub_slot = aarch64_stub_slot,
};
