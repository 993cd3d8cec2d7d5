/*
 * Samples of the process' use of CPU and memory.
 */
#ifndef DWELL_MONITOR_H
#define DWELL_MONITOR_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct process;

/* In the process' block. */
struct monitor {
    uint64_t interval; /* nanoseconds; zero for no samples */
    uint64_t next;     /* monotonic time at which the next is due, in nanoseconds */
};

/* Reads DWELL_MONITOR. */
void monitor_begin(void);

/* Takes a sample if one is due. Returns for how many milliseconds the helper may sleep; negative if without a limit. In
 * the helper. */
long monitor_tick(struct process *p);

/* Takes the last sample, when the process ends. */
void monitor_end(void);

#pragma GCC visibility pop

#endif
