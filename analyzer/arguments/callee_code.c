/*
 * An instruction that names memory relative to the stack pointer or rbp, and the unwind table, say where in the frames
 * that is: below the end of the caller's frame is the return address, above it are the arguments.
 */
#include "arguments/callee_code.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code_machine.h"

enum {
    WORD = 8,
    FRAME_POINTER = 5, /* rbp and rsp as instructions number them, and as DWARF does */
    STACK_POINTER = 4,
    DWARF_FRAME_POINTER = 6,
    DWARF_STACK_POINTER = 7,
    NO_INDEX = 4,
    REX = 0x40,
    REX_X = 2,
    REX_B = 1,
    LONGEST = 15,
    LEA = 0x8d,
    RET_N = 0xc2,
    COUNT = 1, /* rcx */
    SIZE = 2,  /* rdx */
    STACK_TO_RDI = 0xe7
};

/* Memory at a register plus a number, and perhaps plus a register times a number. */
struct callee_memory {
    uint8_t base;
    bool computed; /* an index is added, or only the address is used */
    int64_t offset;
};

/* ---- operands ---- */

/* The instruction without its prefixes. `extended`: with registers above the first eight, as the bits of REX. */
struct callee_op {
    const uint8_t *at, *end; /* at: its opcode */
    uint8_t extended;
    bool segment, known; /* known: it may have an operand in memory */
};

/* Of the opcodes with one byte, those with such an operand. */
static bool callee_has_operand(uint8_t op)
{
    return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op < 0x90) ||
           op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op < 0xd4) ||
           (op >= 0xd8 && op < 0xe0) || op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

/* Of those with two bytes, after 0x0f. */
static bool callee_has_long_operand(uint8_t op)
{
    return (op >= 0x10 && op < 0x30 && op != 0x1e) || (op >= 0x40 && op < 0x80 && op != 0x77) ||
           (op >= 0x90 && op < 0xa0) || op == 0xa3 || op == 0xa4 || op == 0xa5 || op == 0xab ||
           (op > 0xab && op < 0xc8) || op >= 0xd0;
}

static bool callee_is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 || byte == 0x2e ||
           byte == 0x3e || byte == 0x64 || byte == 0x65;
}

/* VEX and EVEX have the bits of REX inverted, and all their instructions but one such an operand. */
static void callee_read_vector(struct callee_op *op)
{
    const uint8_t first = *op->at;
    const size_t prefix = first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;
    if (first != 0xc5)
        op->extended = (uint8_t)(~op->at[1] >> 5 & (REX_X | REX_B));
    op->at += prefix;
    op->known = op->at < op->end && *op->at != 0x77;
}

static struct callee_op callee_op_of(const uint8_t *code, size_t length)
{
    struct callee_op op = { .at = code, .end = code + length };
    for (; op.at < op.end && callee_is_prefix(*op.at); op.at++)
        op.segment |= *op.at == 0x64 || *op.at == 0x65;
    if (op.at < op.end && (*op.at & 0xf0) == REX)
        op.extended = *op.at++ & (REX_X | REX_B);
    if (op.at + 1 >= op.end)
        return op;
    if (*op.at == 0xc4 || *op.at == 0xc5 || *op.at == 0x62)
        callee_read_vector(&op);
    else if (*op.at != 0x0f)
        op.known = callee_has_operand(*op.at);
    else if (*++op.at == 0x38 || *op.at == 0x3a)
        op.known = ++op.at < op.end;
    else
        op.known = callee_has_long_operand(*op.at);
    return op;
}

/* False if the operand is none at the stack pointer or rbp. */
static bool callee_read_memory(const struct callee_op *op, struct callee_memory *memory)
{
    const uint8_t *modrm = op->at + 1;
    if (!op->known || op->segment || modrm + 1 >= op->end || *modrm >> 6 == 3)
        return false;
    const uint8_t mode = *modrm >> 6;
    const bool scaled = (*modrm & 7) == 4;
    const uint8_t *offset = modrm + 1 + scaled;
    const uint8_t base = (scaled ? modrm[1] : *modrm) & 7;
    const bool indexed = scaled && ((modrm[1] >> 3 & 7) != NO_INDEX || op->extended & REX_X);
    *memory = (struct callee_memory){ .base = base, .computed = indexed || *op->at == LEA };
    if (op->extended & REX_B || (base != STACK_POINTER && (base != FRAME_POINTER || !mode)))
        return false;
    int32_t far;
    if (mode == 1 && offset < op->end)
        memory->offset = *offset < 0x80 ? *offset : *offset - 0x100;
    if (mode == 2 && offset + sizeof far <= op->end) {
        memcpy(&far, offset, sizeof far);
        memory->offset = far;
    }
    return true;
}

/* ---- frames ---- */

/* Where the memory is, from the end of the caller's frame. False if that is not known. */
static bool callee_find(Dwarf_CFI *cfi, uint64_t at, const struct callee_memory *memory, int64_t *from_end)
{
    const uint64_t base = memory->base == STACK_POINTER ? DWARF_STACK_POINTER : DWARF_FRAME_POINTER;
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_cfi_addrframe(cfi, at, &frame) != 0)
        return false;
    bool known = dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1;
    const bool numbered = known && ops->atom == DW_OP_bregx;
    known = known && (numbered ? ops->number : (uint64_t)ops->atom - DW_OP_breg0) == base;
    if (known)
        *from_end = memory->offset - (int64_t)(numbered ? ops->number2 : ops->number);
    free(frame);
    return known;
}

/* `lock orq $0, (%rsp)` and its kind: a barrier for memory, and a look whether the stack is there. */
static bool callee_changes_nothing(const struct callee_op *op)
{
    return *op->at == 0x83 && (op->at[1] >> 3 & 7) <= 1 && op->end[-1] == 0;
}

static void callee_take(struct callee_code *code, Dwarf_CFI *cfi, uint64_t at, const struct callee_op *op)
{
    struct callee_memory memory;
    int64_t from_end;
    if (!callee_read_memory(op, &memory) || callee_changes_nothing(op) || memory.offset < 0 ||
        !callee_find(cfi, at, &memory, &from_end))
        return;
    code->looks_at_caller |= from_end >= -WORD && from_end < 0;
    code->takes_address |= from_end >= 0 && memory.computed;
    if (from_end >= 0 && (uint64_t)from_end + WORD > code->bytes)
        code->bytes = (uint64_t)from_end + WORD;
}

/* ---- functions ---- */

/* False at the end, and where an instruction is not known. */
static bool callee_next(const struct image *image, uint64_t at, uint64_t end, uint8_t *bytes, struct code_insn *insn)
{
    const size_t room = at < end && end - at < LONGEST ? (size_t)(end - at) : LONGEST;
    return at < end && image_read(image, at, bytes, room) && code_machine_x86.decode(bytes, room, at, insn) &&
           insn->length;
}

struct callee_code callee_code_read(const struct image *image, Dwarf_CFI *cfi, uint64_t begin, uint64_t end)
{
    struct callee_code code = { .bytes = 0 };
    struct code_insn insn;
    uint8_t bytes[LONGEST];
    for (uint64_t at = begin; callee_next(image, at, end, bytes, &insn); at += insn.length) {
        const struct callee_op op = callee_op_of(bytes, insn.length);
        code.removes_arguments |= insn.length > 2 && bytes[insn.length - 3] == RET_N && insn.kind == CODE_END;
        code.any_number |= insn.length == 2 && bytes[0] == 0x84 && bytes[1] == 0xc0;
        if (cfi)
            callee_take(&code, cfi, at, &op);
    }
    return code;
}

/* sub and add with a number, lea, and those with a register, as for arrays of variable size. */
static bool callee_lowers_stack(const uint8_t *bytes, size_t length, uint32_t by)
{
    static const uint8_t sub[] = { 0x48, 0x81, 0xec }, add[] = { 0x48, 0x81, 0xc4 }, lea[] = { 0x48, 0x8d, 0xa4, 0x24 };
    const uint8_t *op = bytes + 1;
    int32_t number = 0;
    if (length > sizeof number)
        memcpy(&number, bytes + length - sizeof number, sizeof number);
    if (length == sizeof sub + sizeof number && memcmp(bytes, sub, sizeof sub) == 0)
        return number >= (int32_t)by;
    if ((length == sizeof add + sizeof number && memcmp(bytes, add, sizeof add) == 0) ||
        (length == sizeof lea + sizeof number && memcmp(bytes, lea, sizeof lea) == 0))
        return number <= -(int32_t)by;
    return length == 3 && ((*op == 0x29 && (op[1] & 0xc7) == 0xc4) || (*op == 0x2b && (op[1] & 0xf8) == 0xe0));
}

/* The number that an instruction puts into a register. Zero if it does not. */
static uint32_t callee_number(const uint8_t *bytes, size_t length, uint8_t reg)
{
    const bool wide = length == 7 && bytes[0] == 0x48 && bytes[1] == 0xc7 && bytes[2] == (0xc0 | reg);
    uint32_t number = 0;
    if (wide || (length == 5 && bytes[0] == (0xb8 | reg)))
        memcpy(&number, bytes + length - sizeof number, sizeof number);
    return number;
}

/* rep movs, with the number of bytes or of words that rcx has. */
static uint64_t callee_copies(const uint8_t *bytes, size_t length, uint32_t count)
{
    const bool wide = length == 3 && bytes[1] == 0x48;
    if (length != 2u + wide || bytes[0] != 0xf3 || (bytes[1 + wide] & 0xfe) != 0xa4)
        return 0;
    const uint64_t each = bytes[1 + wide] == 0xa4 ? 1 : wide ? WORD : WORD / 2;
    return count ? each * count : UINT64_MAX;
}

/* A large struct is copied by rep movs, or by a function that gets its size and, as its place, the stack pointer. */
bool callee_code_hands_over(const struct image *image, uint64_t begin, uint64_t end, uint32_t bytes)
{
    struct code_insn insn;
    uint8_t code[LONGEST];
    uint32_t count = 0;
    bool lowers = false, copies = false, calls = false, sizes = false, to_stack = false;
    for (uint64_t at = begin; callee_next(image, at, end, code, &insn); at += insn.length) {
        const uint32_t number = callee_number(code, insn.length, COUNT);
        count = number ? number : count;
        lowers |= callee_lowers_stack(code, insn.length, bytes);
        copies |= callee_copies(code, insn.length, count) > bytes;
        sizes |= callee_number(code, insn.length, SIZE) > bytes;
        to_stack |= insn.length == 3 && code[0] == 0x48 && code[1] == 0x89 && code[2] == STACK_TO_RDI;
        calls |= sizes && to_stack;
        if (insn.kind == CODE_CALL || insn.kind == CODE_CALL_SLOT || insn.kind == CODE_CALL_ANY)
            sizes = to_stack = false;
    }
    return lowers && (copies || calls);
}

/* ---- flags ---- */

static bool callee_moves_only(const uint8_t *op)
{
    return (*op >= 0x88 && *op <= 0x8b) || *op == LEA || (*op >= 0xb0 && *op < 0xc0) || *op == 0xc6 || *op == 0xc7 ||
           (*op >= 0x50 && *op < 0x60) || (*op == 0x0f && (op[1] == 0xb6 || op[1] == 0xb7));
}

/* jcc, setcc, cmovcc, adc, sbb, lahf and pushf. */
static bool callee_uses_flags(const uint8_t *op)
{
    const uint8_t kind = op[1] >> 3 & 7;
    return (*op >= 0x70 && *op < 0x80) || (*op >= 0x10 && *op < 0x16) || (*op >= 0x18 && *op < 0x1e) || *op == 0x9c ||
           *op == 0x9f || (*op >= 0x80 && *op <= 0x83 && (kind == 2 || kind == 3)) ||
           (*op == 0x0f && ((op[1] >= 0x40 && op[1] < 0x50) || (op[1] >= 0x80 && op[1] < 0xa0)));
}

/* Compilers take flags for lost after a call. */
bool callee_code_leaves_flags(const struct image *image, uint64_t behind, uint64_t end)
{
    struct code_insn insn;
    uint8_t code[LONGEST] = { 0 };
    for (uint64_t at = behind; callee_next(image, at, end, code, &insn); at += insn.length) {
        const uint8_t *op = code;
        while (op < code + insn.length && (*op == 0x66 || (*op & 0xf0) == REX))
            op++;
        if (op + 1 >= code + LONGEST || !callee_moves_only(op))
            return op + 1 < code + LONGEST && callee_uses_flags(op);
    }
    return false;
}
