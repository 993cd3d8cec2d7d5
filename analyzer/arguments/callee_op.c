#include "arguments/callee_op.h"

#include <string.h>

enum { NO_INDEX = 4, REX = 0x40, REX_R = 4, REX_X = 2, REX_B = 1, LEA = 0x8d, MODE_REGISTER = 3 };

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
    op->extended = (uint8_t)(~op->at[1] >> 5 & (first == 0xc5 ? REX_R : REX_R | REX_X | REX_B));
    op->at += prefix;
    op->table = CALLEE_VECTOR;
    op->known = op->at < op->end && *op->at != 0x77;
}

static void callee_read_long(struct callee_op *op)
{
    op->table = CALLEE_LONG;
    if (*++op->at != 0x38 && *op->at != 0x3a) {
        op->known = callee_has_long_operand(*op->at);
        return;
    }
    op->table = CALLEE_LONGER;
    op->known = ++op->at < op->end;
}

struct callee_op callee_op_of(const uint8_t *code, size_t length)
{
    struct callee_op op = { .at = code, .end = code + length, .length = (uint8_t)length };
    for (; op.at < op.end && callee_is_prefix(*op.at); op.at++) {
        op.segment |= *op.at == 0x64 || *op.at == 0x65;
        op.narrow |= *op.at == 0x66;
    }
    op.rex = op.at < op.end && (*op.at & 0xf0) == REX;
    if (op.rex)
        op.extended = *op.at++ & (REX_R | REX_X | REX_B);
    if (op.at + 1 >= op.end)
        return op;
    if (*op.at == 0xc4 || *op.at == 0xc5 || *op.at == 0x62)
        callee_read_vector(&op);
    else if (*op.at == 0x0f)
        callee_read_long(&op);
    else
        op.known = callee_has_operand(*op.at);
    return op;
}

/* ---- operands ---- */

uint8_t callee_op_register(const struct callee_op *op)
{
    return (uint8_t)((op->at[1] >> 3 & 7) | (op->extended & REX_R ? 8 : 0));
}

bool callee_op_has_memory(const struct callee_op *op)
{
    return op->at[1] >> 6 != MODE_REGISTER;
}

uint8_t callee_op_other(const struct callee_op *op)
{
    return (uint8_t)((op->at[1] & 7) | (op->extended & REX_B ? 8 : 0));
}

bool callee_op_memory_has(const struct callee_op *op, uint8_t reg)
{
    const uint8_t *modrm = op->at + 1, base = *modrm & 7;
    const uint8_t above = op->extended & REX_B ? 8 : 0;
    if (base != CALLEE_STACK_POINTER)
        return (base | above) == reg; /* that relative to the instruction is taken for rbp */
    const uint8_t index = (uint8_t)((modrm[1] >> 3 & 7) | (op->extended & REX_X ? 8 : 0));
    return ((modrm[1] & 7) | above) == reg || (index != NO_INDEX && index == reg);
}

bool callee_read_memory(const struct callee_op *op, struct callee_memory *memory)
{
    const uint8_t *modrm = op->at + 1;
    if (!op->known || op->segment || modrm + 1 >= op->end || !callee_op_has_memory(op))
        return false;
    const uint8_t mode = *modrm >> 6;
    const bool scaled = (*modrm & 7) == CALLEE_STACK_POINTER;
    const uint8_t *offset = modrm + 1 + scaled;
    const uint8_t base = (scaled ? modrm[1] : *modrm) & 7;
    const bool indexed = scaled && ((modrm[1] >> 3 & 7) != NO_INDEX || op->extended & REX_X);
    *memory = (struct callee_memory){ .base = base, .computed = indexed || *op->at == LEA };
    if (op->extended & REX_B || (base != CALLEE_STACK_POINTER && (base != CALLEE_FRAME_POINTER || !mode)))
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

bool callee_next(const struct image *image, uint64_t at, uint64_t end, uint8_t *bytes, struct code_insn *insn)
{
    const size_t room = at < end && end - at < CALLEE_LONGEST ? (size_t)(end - at) : CALLEE_LONGEST;
    return at < end && image_read(image, at, bytes, room) && code_machine_x86.decode(bytes, room, at, insn) &&
           insn->length;
}
