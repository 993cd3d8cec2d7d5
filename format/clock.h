/* The session's clock. The hot path reads the CPU's counter. If that cannot be used, every probe takes the slow path,
 * which reads CLOCK_MONOTONIC. */
#ifndef DWELL_FORMAT_CLOCK_H
#define DWELL_FORMAT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "dwell/format.h"

/* An instruction without effect of the length of a fence. A section lists its place relative to the entry. */
#define DWELL_FENCE_ROOM(NOTHING)                                                                                      \
    ".pushsection dwell_fences, \"a\"\n\t.balign 4\n\t.long 771f - .\n\t"                                              \
    ".popsection\n771:\t" NOTHING "\n\t"

/* Reads the CPU's counter. The CPU may read it before earlier instructions have completed, above all a load that waits
 * for memory. A fence would prevent that, and costs as much as the reading. So there is room for a fence before each
 * reading, and clock_order fills it. */
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

/* Writes the fences, everywhere in this library. Returns false if the system does not let it change its code. One
 * thread at a time, while no other one is in a probe. */
bool clock_order(void);

/* Returns whether the user selected the fences. `wanted` is the value of DWELL_CLOCK, or NULL. */
bool clock_order_wanted(const char *wanted);

/* Return CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. Safe in signal handlers. */
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);

/* Returns the best clock of this machine and process. It is the counter, unless that is not invariant, is forbidden by
 * PR_SET_TSC, or is so slow that a virtual machine traps it. `wanted` is the user's choice, as in DWELL_CLOCK, or NULL.
 */
enum dwell_clock clock_choose(const char *wanted);

/* Returns whether this process can use `clock`, which another process of the session selected. */
int clock_usable(enum dwell_clock clock);

/* Returns the time on `clock` in its ticks. */
static inline uint64_t clock_now(enum dwell_clock clock)
{
    return clock == DWELL_CLOCK_MONOTONIC ? clock_monotonic() : clock_counter();
}

/* Reads one instant on `clock` and on CLOCK_MONOTONIC_RAW, the latter in nanoseconds. */
void clock_pair(enum dwell_clock clock, uint64_t *ticks, uint64_t *nanoseconds);

/* Returns the ticks per second of `clock`, from the hardware if it says so. Otherwise it is measured against
 * CLOCK_MONOTONIC for two milliseconds. The recorder replaces it by a longer measurement. */
uint64_t clock_frequency(enum dwell_clock clock);

#endif
