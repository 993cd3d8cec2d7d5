/*
 * The session's clock. The hot path reads the counter of the CPU; where that cannot be used, every
 * probe takes the slow path, which reads CLOCK_MONOTONIC instead.
 */
#ifndef DWELL_RUNTIME_CLOCK_H
#define DWELL_RUNTIME_CLOCK_H

#include <stdint.h>

#include "dwell/format.h"

/* The CPU's counter, unordered: a fence would cost more than the error it avoids. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#else
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#endif
}

/* CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. */
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);

/* The best clock of this machine and process: the counter, unless it is not invariant, forbidden by
 * PR_SET_TSC, or so slow that a virtual machine traps it. */
enum dwell_clock clock_choose(void);

/* Whether this process may use `clock`, as another process of the session chose it. */
int clock_usable(enum dwell_clock clock);

/* The time now on `clock`, in its ticks. */
static inline uint64_t clock_now(enum dwell_clock clock)
{
    return clock == DWELL_CLOCK_MONOTONIC ? clock_monotonic() : clock_counter();
}

/* One instant on `clock` and on CLOCK_MONOTONIC_RAW, in nanoseconds. */
void clock_pair(enum dwell_clock clock, uint64_t *ticks, uint64_t *nanoseconds);

/* Ticks per second of `clock`: what the hardware says where it says so, else measured against
 * CLOCK_MONOTONIC for two milliseconds; the recorder replaces it by a longer measurement. */
uint64_t clock_frequency(enum dwell_clock clock);

#endif
