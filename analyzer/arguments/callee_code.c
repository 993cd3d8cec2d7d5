/*
 * An instruction that names memory relative to the stack pointer or rbp, and the unwind table, say where in the frames
 * that is: below the end of the caller's frame is the return address, above it are the arguments.
 */
#include "arguments/callee_code.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/callee_op.h"
#include "arguments/end_pointer.h"
#include "symbols/code_machine.h"

enum {
    WORD = 8,
    DWARF_FRAME_POINTER = 6,
    DWARF_STACK_POINTER = 7,
    LONGEST = CALLEE_LONGEST,
    REX = 0x40,
    LEA = 0x8d,
    RET_N = 0xc2,
    COUNT = 1, /* rcx */
    SIZE = 2,  /* rdx */
    STACK_TO_RDI = 0xe7
};

/* ---- frames ---- */

/* Where the memory is, from the end of the caller's frame. False if that is not known. */
static bool callee_find(Dwarf_CFI *cfi, uint64_t at, const struct callee_memory *memory, int64_t *from_end)
{
    const uint64_t base = memory->base == CALLEE_STACK_POINTER ? DWARF_STACK_POINTER : DWARF_FRAME_POINTER;
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

/* The end of what lies below it, with which a loop compares, is no look at it. */
static bool callee_looks(const struct callee_function *f, uint64_t next, const struct callee_op *op, int64_t from_end)
{
    if (from_end < -WORD || from_end >= 0)
        return false;
    return from_end != -WORD || *op->at != LEA || !end_pointer_is_compared(f, next, callee_op_register(op));
}

static void callee_take(struct callee_code *code, const struct callee_function *f, Dwarf_CFI *cfi, uint64_t at,
                        const struct callee_op *op)
{
    struct callee_memory memory;
    int64_t from_end;
    if (!callee_read_memory(op, &memory) || callee_changes_nothing(op) || memory.offset < 0 ||
        !callee_find(cfi, at, &memory, &from_end))
        return;
    code->looks_at_caller |= callee_looks(f, at + op->length, op, from_end);
    code->takes_address |= from_end >= 0 && memory.computed;
    if (from_end >= 0 && (uint64_t)from_end + WORD > code->bytes)
        code->bytes = (uint64_t)from_end + WORD;
}

/* ---- functions ---- */

struct callee_code callee_code_read(const struct image *image, Dwarf_CFI *cfi, uint64_t begin, uint64_t end)
{
    const struct callee_function f = { image, begin, end };
    struct callee_code code = { .bytes = 0 };
    struct code_insn insn;
    uint8_t bytes[LONGEST];
    for (uint64_t at = begin; callee_next(image, at, end, bytes, &insn); at += insn.length) {
        const struct callee_op op = callee_op_of(bytes, insn.length);
        code.removes_arguments |= insn.length > 2 && bytes[insn.length - 3] == RET_N && insn.kind == CODE_END;
        code.any_number |= insn.length == 2 && bytes[0] == 0x84 && bytes[1] == 0xc0;
        if (cfi)
            callee_take(&code, &f, cfi, at, &op);
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
