/* Takes instructions apart. */
#include "arguments/operands.h"

#include <string.h>

static void operands_parse_prefixes(struct operands *i, uint8_t *rex)
{
    for (*rex = 0; i->at < i->end; i->at++) {
        i->half |= *i->at == 0x66;
        i->repne |= *i->at == 0xf2;
        i->rep |= *i->at == 0xf3;
        if (*i->at != 0x66 && *i->at != 0xf2 && *i->at != 0xf3)
            break;
    }
    if (i->at < i->end && (*i->at & 0xf0) == 0x40)
        *rex = *i->at++;
    i->rex = *rex != 0;
    i->wide = *rex & 8;
}

/* An operand in memory without a base is left out: it is relative to the instruction, or has an address. */
static void operands_parse_memory(struct operands *i, uint8_t rex)
{
    bool indexed = false;
    if ((i->rm & 7) == 4) {
        if (i->at >= i->end)
            return;
        i->index = (uint8_t)((*i->at >> 3 & 7) | (rex & 2) << 2);
        i->scale = *i->at >> 6;
        i->rm = (uint8_t)((*i->at++ & 7) | (rex & 1) << 3);
        indexed = i->index != OPERAND_RSP;
    }
    if ((i->rm & 7) == 5 && i->mod == 0)
        return;
    const size_t size = i->mod == 1 ? 1 : i->mod == 2 ? 4 : 0;
    int32_t wide = 0;
    if ((size_t)(i->end - i->at) < size)
        return;
    memcpy(&wide, i->at, size);
    i->displacement = size == 1 ? (int8_t)*i->at : wide;
    i->immediate = i->at + size;
    i->plain = !indexed;
    i->indexed = indexed;
}

bool operands_parse(struct operands *i, const uint8_t *code, size_t length)
{
    uint8_t rex;
    *i = (struct operands){ .at = code, .end = code + length };
    operands_parse_prefixes(i, &rex);
    if (i->at < i->end && *i->at == 0x0f) {
        i->two_bytes = true;
        i->at++;
    }
    if (i->at >= i->end)
        return false;
    i->opcode = *i->at++;
    if (i->at >= i->end)
        return true;
    const uint8_t *after_opcode = i->at;
    const uint8_t modrm = *i->at++;
    i->mod = modrm >> 6;
    i->reg = (uint8_t)((modrm >> 3 & 7) | (rex & 4) << 1);
    i->rm = (uint8_t)((modrm & 7) | (rex & 1) << 3);
    i->immediate = i->at;
    if (i->mod != 3)
        operands_parse_memory(i, rex);
    if (!i->two_bytes && (i->opcode & 0xf8) == 0x58)
        i->at = after_opcode;
    return true;
}

int64_t operands_move_of_stack(const struct operands *i)
{
    if (i->two_bytes)
        return 0;
    if ((i->opcode & 0xf8) == 0x50 || i->opcode == 0x68 || i->opcode == 0x6a)
        return -8;
    if ((i->opcode & 0xf8) == 0x58)
        return 8;
    if ((i->opcode != 0x81 && i->opcode != 0x83) || i->mod != 3 || i->rm != OPERAND_RSP || !i->wide || !i->immediate)
        return 0;
    const size_t size = i->opcode == 0x81 ? 4 : 1;
    int32_t number = 0;
    if ((size_t)(i->end - i->immediate) < size)
        return 0;
    memcpy(&number, i->immediate, size);
    const int64_t amount = size == 1 ? (int8_t)*i->immediate : number;
    return (i->reg & 7) == 0 ? amount : (i->reg & 7) == 5 ? -amount : 0;
}
