/* Percentages, and ticks as nanoseconds, without overflow. */
#include "base/units.h"

#include "base/wide.h"

double percent_of(uint64_t part, uint64_t whole)
{
    const double most = 1e9; /* parts of a damaged session can have any value */
    const double percent = whole ? 100.0 * (double)part / (double)whole : 0;
    return percent < most ? percent : most;
}

uint64_t ticks_to_ns(uint64_t ticks, uint64_t ticks_per_second)
{
    const uint64_t ns = 1000000000u;
    if (ticks_per_second <=
        UINT64_MAX / ns / 2) /* the same without a slow division of 128 bits: exports convert each event */
        return ticks / ticks_per_second * ns +
               (ticks % ticks_per_second * ns + ticks_per_second / 2) / ticks_per_second;
    return (uint64_t)(((uint128)ticks * ns + ticks_per_second / 2) / ticks_per_second);
}
