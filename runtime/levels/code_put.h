/* Writing x86-64 code. Each function returns the end of what it has written. */
#ifndef DWELL_LEVELS_CODE_PUT_H
#define DWELL_LEVELS_CODE_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline char *code_put(char *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

/* The bytes of a string literal. */
#define CODE_PUT(at, bytes) code_put(at, bytes, sizeof(bytes) - 1)

static inline char *code_put_word(char *at, int64_t value)
{
    const int32_t word = (int32_t)value;
    return code_put(at, &word, sizeof word);
}

/* Of an instruction that ends with the distance to an address. */
static inline char *code_put_distance(char *at, uint64_t to)
{
    return code_put_word(at, (int64_t)(to - ((uint64_t)at + sizeof(int32_t))));
}

#endif
