/* Arithmetic with counts and times. */
#ifndef DWELL_BASE_NUMBERS_H
#define DWELL_BASE_NUMBERS_H

#include <stddef.h>
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

/* Saturating addition. */
static inline uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Rounded; zero of none. */
static inline uint64_t mean_of_sum(uint64_t sum, size_t count)
{
    return count ? sum / count + (sum % count * 2 >= count) : 0;
}

#endif
