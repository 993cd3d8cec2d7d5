/* Takes instructions of aarch64 apart. */
#include "symbols/aarch64_operands.h"

enum { POST = 1, PRE = 3 }; /* when the base moves, as in the instruction */

/* The base moves by the offset, before the access or after it. */
static void memory_set_offset(struct aarch64_memory *m, int64_t offset, unsigned mode)
{
    m->offset = mode == POST ? 0 : offset;
    m->moves = mode == POST || mode == PRE ? offset : 0;
}

/* Not with bytes of 128-bit registers, of which two moves would be needed. */
static bool memory_parse_pair(struct aarch64_memory *m, uint32_t word)
{
    const unsigned kind = word >> 30;
    m->vector = aarch64_bits(word, 26, 1);
    m->load = aarch64_bits(word, 22, 1);
    m->is_signed = !m->vector && kind == 1;
    m->size = m->vector ? 4u << kind : kind == 2 ? 8 : 4;
    m->bits = m->is_signed ? 64 : 8 * m->size;
    m->next = aarch64_bits(word, 10, 5);
    m->count = 2;
    memory_set_offset(m, aarch64_signed_bits(word, 15, 7) * m->size, aarch64_bits(word, 23, 2));
    return kind != 3;
}

static bool memory_parse_one(struct aarch64_memory *m, uint32_t word, bool scaled)
{
    const unsigned size = word >> 30, kind = aarch64_bits(word, 22, 2);
    m->vector = aarch64_bits(word, 26, 1);
    m->size = m->vector && kind >= 2 ? 16 : 1u << size;
    m->load = m->vector ? kind & 1 : kind != 0;
    m->is_signed = !m->vector && kind >= 2;
    m->bits = m->vector ? 8 * m->size : kind == 2 || size == 3 ? 64 : 32;
    m->count = 1;
    if (scaled)
        memory_set_offset(m, (int64_t)aarch64_bits(word, 10, 12) * m->size, 0);
    else
        memory_set_offset(m, aarch64_signed_bits(word, 12, 9), aarch64_bits(word, 10, 2));
    return m->vector ? kind < 2 || size == 0 : size != 3 || kind < 2; /* what prefetches is another one */
}

bool aarch64_memory_parse(struct aarch64_memory *m, uint32_t word)
{
    *m = (struct aarch64_memory){ .first = aarch64_bits(word, 0, 5), .base = aarch64_bits(word, 5, 5) };
    if ((word & 0x3a000000) == 0x28000000)
        return memory_parse_pair(m, word);
    if ((word & 0x3b000000) == 0x39000000)
        return memory_parse_one(m, word, true);
    return (word & 0x3b200000) == 0x38000000 && memory_parse_one(m, word, false);
}

bool aarch64_addition_parse(struct aarch64_addition *a, uint32_t word)
{
    const int64_t number = (int64_t)aarch64_bits(word, 10, 12) << (aarch64_bits(word, 22, 1) ? 12 : 0);
    *a = (struct aarch64_addition){ aarch64_bits(word, 0, 5), aarch64_bits(word, 5, 5),
                                    aarch64_bits(word, 30, 1) ? -number : number };
    return (word & 0xbf800000) == 0x91000000;
}
