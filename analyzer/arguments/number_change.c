/* Arithmetic that can be taken back. */
#include "arguments/number_change.h"

#include <string.h>

enum { SHIFT_LEFT = 4, ROTATE_RIGHT = 1, INVERT = 2, NEGATE = 3, ADD = 0, SUBTRACT = 5, XOR = 6, BYTE_BITS = 8 };

/* The number behind the operand, of one byte, or of as many as the operand up to four. */
static bool change_number(const struct operands *i, bool byte, int64_t *number)
{
    const size_t size = byte ? 1 : i->half ? 2 : 4;
    int32_t word = 0;
    if (!i->immediate || (size_t)(i->end - i->immediate) < size)
        return false;
    memcpy(&word, i->immediate, size);
    *number = size == 1 ? (int8_t)word : size == 2 ? (int16_t)word : word;
    return true;
}

static bool change_set(struct change *c, enum load_op op, int64_t number)
{
    c->op = (uint8_t)op;
    c->number = number;
    return true;
}

/* What an odd number is multiplied by to be one. Each round doubles the bits that are right. */
static int64_t change_inverse(int64_t number)
{
    uint64_t inverse = (uint64_t)number;
    for (int round = 0; round < 5; round++)
        inverse *= 2 - (uint64_t)number * inverse;
    return (int64_t)inverse;
}

/* add, sub and xor of a number. */
static bool change_by_number(struct change *c, const struct operands *i)
{
    int64_t number;
    if (i->mod != 3 || !change_number(i, i->opcode == 0x83, &number))
        return false;
    switch (i->reg & 7) {
    case ADD:
        return change_set(c, LOAD_ADD, (int64_t) - (uint64_t)number);
    case SUBTRACT:
        return change_set(c, LOAD_ADD, number);
    case XOR:
        return change_set(c, LOAD_XOR, number);
    default:
        return false;
    }
}

/* add, sub and xor of a register. */
static bool change_by_register(struct change *c, const struct operands *i)
{
    const bool to_reg = i->opcode & 2;
    c->to = c->from = to_reg ? i->reg : i->rm;
    c->other = to_reg ? i->rm : i->reg;
    c->has_other = true;
    c->op = i->opcode < 0x20 ? LOAD_DIFFERENCE : i->opcode < 0x30 ? LOAD_SUM : LOAD_XOR;
    return i->mod == 3 && c->to != c->other;
}

static bool change_by_factor(struct change *c, const struct operands *i)
{
    int64_t number;
    c->to = i->reg;
    return i->mod == 3 && change_number(i, i->opcode == 0x6b, &number) && number & 1 &&
           change_set(c, LOAD_PRODUCT, change_inverse(number));
}

/* Shifts to the left, and rotations that exchange two bytes. */
static bool change_by_shift(struct change *c, const struct operands *i)
{
    int64_t count = 1;
    const unsigned how = i->reg & 7;
    if (i->mod != 3 || (i->opcode == 0xc1 && !change_number(i, true, &count)))
        return false;
    count &= i->wide ? 63 : 31;
    c->whole = true;
    c->shift = (uint8_t)count;
    if (how == SHIFT_LEFT)
        return count < BYTE_BITS * c->bytes && change_set(c, LOAD_RIGHT, count);
    c->shift = 0;
    c->number = 0;
    c->op = LOAD_SWAP;
    return how <= ROTATE_RIGHT && c->bytes == 2 && count == BYTE_BITS;
}

/* bswap. The register is in the opcode. */
static bool change_by_swap(struct change *c, const struct operands *i, const uint8_t *code)
{
    c->to = c->from = (uint8_t)((i->opcode & 7) | (i->rex ? (code[0] & 1) << 3 : 0));
    c->whole = true;
    c->op = LOAD_SWAP;
    return i->two_bytes && (i->opcode & 0xf8) == 0xc8 && !i->half;
}

bool change_parse(struct change *c, const struct operands *i, const uint8_t *code)
{
    *c = (struct change){ .to = i->rm, .from = i->rm, .bytes = i->wide ? 8 : i->half ? 2 : 4 };
    if (i->two_bytes)
        return change_by_swap(c, i, code);
    switch (i->opcode) {
    case 0x01:
    case 0x03:
    case 0x29:
    case 0x2b:
    case 0x31:
    case 0x33:
        return change_by_register(c, i);
    case 0x69:
    case 0x6b:
        return change_by_factor(c, i);
    case 0x81:
    case 0x83:
        return change_by_number(c, i);
    case 0x8d:
        c->to = i->reg;
        return i->mod != 3 && i->plain && change_set(c, LOAD_ADD, -i->displacement);
    case 0xc1:
    case 0xd1:
        return change_by_shift(c, i);
    case 0xf7:
        c->op = (i->reg & 7) == INVERT ? LOAD_INVERT : LOAD_NEGATE;
        return i->mod == 3 && ((i->reg & 7) == INVERT || (i->reg & 7) == NEGATE);
    default:
        return false;
    }
}

bool change_undo(const struct change *c, unsigned other, struct load_program *program)
{
    const struct load undo = { c->op, 0, 0 };
    if (c->op == LOAD_ADD)
        return load_add(program, LOAD_ADD, 0, c->number);
    if (c->op == LOAD_SWAP)
        return load_add(program, LOAD_SWAP, c->bytes, 0);
    if (load_takes(&undo) == 2 && !load_add(program, c->has_other ? LOAD_REGISTER : LOAD_NUMBER,
                                            c->has_other ? other : 0, c->has_other ? 0 : c->number))
        return false;
    return load_add(program, (enum load_op)c->op, 0, 0);
}
