/* 128-bit numbers, for conversions that must be exact to the tick. */
#ifndef DWELL_BASE_WIDE_H
#define DWELL_BASE_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

/* a * b / c, rounded down. c may not be zero, and the result must fit into 64 bits. */
static inline uint64_t multiply_divide(uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)((uint128)a * b / c);
}

#endif
