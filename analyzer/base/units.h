/* Percentages, and ticks as nanoseconds. */
#ifndef DWELL_BASE_UNITS_H
#define DWELL_BASE_UNITS_H

#include <stdint.h>

/* The part in percent of the whole; zero if the whole is zero. */
double percent_of(uint64_t part, uint64_t whole);

/* Ticks in nanoseconds, rounded. */
uint64_t ticks_to_ns(uint64_t ticks, uint64_t ticks_per_second);

#endif
