/*
 * The session's clock. The hot path reads the counter of the CPU; where that cannot be used, every
 * probe takes the slow path, which reads CLOCK_MONOTONIC instead.
 */
#ifndef DWELL_RUNTIME_CLOCK_H
#define DWELL_RUNTIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "dwell/format.h"

/* An instruction of no effect as long as a fence, whose place is listed in a section, relative to the entry. */
#define DWELL_FENCE_ROOM(NOTHING)                                                                                      \
    ".pushsection dwell_fences, \"a\"\n\t.balign 4\n\t.long 771f - .\n\t"                                              \
    ".popsection\n771:\t" NOTHING "\n\t"

/*
 * The CPU's counter. The CPU may read it before what comes earlier in the program is done, a load that waits for memory
 * above all: a fence would keep it in order, and costs as much as the reading itself. So there is room for one before
 * each reading, which clock_order fills.
 */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile(DWELL_FENCE_ROOM(".byte 0x0f, 0x1f, 0x00") "rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#else
    uint64_t count;
    __asm__ volatile(DWELL_FENCE_ROOM("nop") "mrs %0, cntvct_el0" : "=r"(count));
    return count;
#endif
}

/* Puts the fences in, everywhere in this library. False: the system does not let it change its code. One thread at a
 * time, and while no other is in a probe. */
bool clock_order(void);

/* Whether the user wants them (DWELL_CLOCK=ordered). */
bool clock_order_wanted(void);

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
