/* The operands of instructions on aarch64 that move words between registers and memory. */
#ifndef DWELL_SYMBOLS_AARCH64_OPERANDS_H
#define DWELL_SYMBOLS_AARCH64_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

enum { AARCH64_FRAME = 29, AARCH64_STACK = 31, AARCH64_ZERO = 31, AARCH64_WORD = 4 };

/* A load or store of one register or of two, at a register plus a number. */
struct aarch64_memory {
    bool load, vector;
    bool is_signed;       /* the load extends a sign to `bits` bits */
    unsigned size;        /* bytes of each register */
    unsigned bits;        /* of the register that a load changes */
    unsigned first, next; /* the registers */
    unsigned count;       /* of registers */
    unsigned base;
    int64_t offset;
    int64_t moves; /* the base, afterwards */
};

/* False if the instruction is another one. */
bool aarch64_memory_parse(struct aarch64_memory *m, uint32_t word);

/* An addition of a number to a 64-bit register, or a subtraction, without flags; also with the stack pointer. */
struct aarch64_addition {
    unsigned to, from;
    int64_t number;
};

bool aarch64_addition_parse(struct aarch64_addition *a, uint32_t word);

/* The bits of a word from `low` on; and with their sign. */
static inline uint32_t aarch64_bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}

static inline int64_t aarch64_signed_bits(uint32_t word, unsigned low, unsigned count)
{
    return (int64_t)((uint64_t)aarch64_bits(word, low, count) << (64 - count)) >> (64 - count);
}

#endif
