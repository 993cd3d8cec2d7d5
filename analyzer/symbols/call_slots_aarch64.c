/*
 * Code reads a slot by adrp of its page and a load at the rest of its address. What such a load got must go to the next
 * call or jump and nowhere else, before any other branch.
 *
 * Pages are followed in the order of the addresses. A register that may still have the page of a slot at a branch is
 * taken to have it everywhere: any load by it that could be of the slot makes it one for other uses.
 */
#include <string.h>

#include "symbols/aarch64_operands.h"
#include "symbols/call_slot_uses.h"
#include "symbols/code_machine.h"

enum { WORD = AARCH64_WORD, PAGE_BYTES = 4096, MOST_BETWEEN = 64 };

static const uint64_t page_mask = ~(uint64_t)(PAGE_BYTES - 1);

struct slots_reader {
    const struct call_slots *slots;
    struct slot_use *uses;
    const struct image_segment *segment;
    uint64_t values[CODE_REGISTERS];
    uint32_t known;  /* a bit for each register that has its value */
    uint32_t pages;  /* likewise, of which that is the page of a slot */
    uint32_t leaked; /* likewise, that may have such a page anywhere */
};

static uint32_t slots_bit(unsigned number)
{
    return number < CODE_NONE ? 1u << number : 0;
}

static bool slots_have_page(const struct call_slots *s, uint64_t page)
{
    const uint64_t first = s->list[0].address & page_mask, last = s->list[s->count - 1].address & page_mask;
    return page >= first && page <= last;
}

static uint32_t slots_word(const struct image_segment *segment, uint64_t at)
{
    uint32_t word;
    memcpy(&word, segment->bytes + at, sizeof word);
    return word;
}

static bool slots_decode(const struct image_segment *segment, uint64_t at, struct code_insn *insn)
{
    return code_machine_aarch64.decode(segment->bytes + at, segment->size - at, segment->address + at, insn);
}

/* ---- what a load got ---- */

/* Whether the instruction may read the register, or change it. */
static bool slots_touches(uint32_t word, unsigned number)
{
    const bool first = aarch64_bits(word, 0, 5) == number, from = aarch64_bits(word, 5, 5) == number,
               second = aarch64_bits(word, 10, 5) == number, third = aarch64_bits(word, 16, 5) == number;
    const bool vector = aarch64_bits(word, 26, 1);
    if ((word & 0x1f000000) == 0x10000000 || (word & 0x1f800000) == 0x12800000) /* adr, adrp; numbers */
        return first;
    if ((word & 0x1c000000) == 0x10000000 && (word & 0x1f800000) != 0x13800000) /* arithmetic with a number */
        return first || from;
    if ((word & 0x3b000000) == 0x39000000) /* a load or store */
        return (first && !vector) || from;
    if ((word & 0x3a000000) == 0x28000000) /* of two */
        return ((first || second) && !vector) || from;
    return first || from || second || third;
}

static bool slots_is_branch(const struct code_insn *insn)
{
    switch (insn->kind) {
    case CODE_CALL:
    case CODE_JUMP:
    case CODE_BRANCH:
    case CODE_CALL_SLOT:
    case CODE_JUMP_SLOT:
    case CODE_CALL_ANY:
    case CODE_JUMP_ANY:
    case CODE_END:
        return true;
    default:
        return false;
    }
}

/* Whether the register's value is only called, or jumped to, from there on. After a call that may change the register,
 * nothing reads it. */
static bool slots_is_called(const struct image_segment *segment, uint64_t at, unsigned number)
{
    const uint64_t end = at + (uint64_t)MOST_BETWEEN * WORD;
    for (; at < end && at + WORD <= segment->size; at += WORD) {
        const uint32_t word = slots_word(segment, at);
        struct code_insn insn;
        if (word == (0xd61f0000 | number << 5))
            return true;
        if (word == (0xd63f0000 | number << 5))
            return code_machine_aarch64.caller_saved & slots_bit(number);
        if (!slots_decode(segment, at, &insn) || slots_is_branch(&insn) || slots_touches(word, number))
            return false;
    }
    return false;
}

/* ---- loads ---- */

static void slots_note(struct slots_reader *r, struct slot_use *use, uint64_t at, unsigned to)
{
    if (slots_is_called(r->segment, at + WORD, to))
        use->calls = true;
    else
        use->other = true;
}

/* The base has a page of slots in another place. */
static void slots_note_leaked(struct slots_reader *r, uint64_t offset, const struct slot_use *but)
{
    for (size_t i = 0; i < r->slots->count; i++)
        if ((r->slots->list[i].address - offset) % PAGE_BYTES == 0 && &r->uses[i] != but)
            r->uses[i].other = true;
}

static void slots_take_load(struct slots_reader *r, uint64_t at, const struct code_insn *insn)
{
    const uint32_t base = slots_bit(insn->from);
    struct slot_use *use = NULL;
    if (r->known & base)
        use = slot_use_at(r->slots, r->uses, r->values[insn->from] + insn->value);
    if (use)
        slots_note(r, use, at, insn->to);
    if (r->leaked & base)
        slots_note_leaked(r, insn->value, use);
}

/* ---- values of registers ---- */

/* The address of a slot itself, for any use. */
static void slots_take_address(struct slots_reader *r, uint64_t address)
{
    struct slot_use *use = slot_use_at(r->slots, r->uses, address);
    if (use)
        use->other = true;
}

static void slots_set(struct slots_reader *r, unsigned to, uint64_t value)
{
    const uint32_t bit = slots_bit(to);
    r->values[to] = value;
    r->known |= bit;
    r->pages |= slots_have_page(r->slots, value & page_mask) ? bit : 0;
}

static void slots_take_value(struct slots_reader *r, uint32_t word, const struct code_insn *insn, uint64_t from)
{
    if (insn->kind == CODE_CONSTANT) {
        slots_set(r, insn->to, insn->value);
        if (!(word >> 31)) /* adr */
            slots_take_address(r, insn->value);
    } else if (insn->kind == CODE_ADD || insn->kind == CODE_COPY) {
        const uint64_t value = from + (insn->kind == CODE_ADD ? insn->value : 0);
        slots_set(r, insn->to, value);
        if (insn->kind == CODE_ADD)
            slots_take_address(r, value);
    }
}

/* A page that is stored can be loaded into any register. */
static void slots_take_store(struct slots_reader *r, uint32_t word)
{
    struct aarch64_memory m;
    if (aarch64_bits(word, 25, 1) || !aarch64_bits(word, 27, 1) || !aarch64_memory_parse(&m, word) || m.load ||
        m.vector)
        return;
    if (r->pages & (slots_bit(m.first) | (m.count == 2 ? slots_bit(m.next) : 0)))
        r->leaked = UINT32_MAX;
}

static void slots_forget(struct slots_reader *r, uint32_t registers)
{
    r->known &= ~registers;
    r->pages &= ~registers;
}

static void slots_read(struct slots_reader *r, uint64_t at)
{
    const uint32_t word = slots_word(r->segment, at);
    struct code_insn insn;
    if (!slots_decode(r->segment, at, &insn))
        return;
    const bool from_known = r->known & slots_bit(insn.from);
    const uint64_t from = from_known ? r->values[insn.from] : 0;
    if (insn.kind == CODE_LOAD_AT)
        slots_take_load(r, at, &insn);
    slots_take_store(r, word);
    if (slots_is_branch(&insn))
        r->leaked |= r->pages;
    slots_forget(r, insn.writes);
    if (insn.kind == CODE_CONSTANT || from_known)
        slots_take_value(r, word, &insn, from);
    if (insn.kind == CODE_CALL || insn.kind == CODE_CALL_ANY)
        slots_forget(r, code_machine_aarch64.caller_saved);
    else if (slots_is_branch(&insn) && insn.kind != CODE_BRANCH)
        slots_forget(r, UINT32_MAX);
}

/* Twice: pages may be leaked below the loads that they are for. */
void call_slots_uses_aarch64(const struct call_slots *s, struct slot_use *uses, const struct image *image)
{
    struct slots_reader r = { .slots = s, .uses = uses };
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < image->segment_count; i++) {
            r.segment = &image->segments[i];
            slots_forget(&r, UINT32_MAX);
            for (uint64_t at = 0; r.segment->code && at + WORD <= r.segment->size; at += WORD)
                slots_read(&r, at);
        }
}
