/* Arithmetic with counts and times. */
#ifndef DWELL_BASE_NUMBERS_H
#define DWELL_BASE_NUMBERS_H

#include <stdint.h>

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Saturating subtraction. */
static inline uint64_t less(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

#endif
