/*
 * Context switches as the kernel itself counts them, for comparison with those recorded.
 */
#ifndef DWELL_SWITCHES_H
#define DWELL_SWITCHES_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct os_events;
struct thread;

/* The number of times that the kernel took a thread from its CPU: because it waited, or although it could run. */
struct switch_counts {
    uint64_t waits, preemptions;
};

/* In a thread's block. */
struct thread_switches {
    uint64_t recorded;         /* number of switches in the session's records */
    struct switch_counts seen; /* in the ring, recorded or not */
    uint64_t off_cpu_seen;     /* ticks that the seen ones took */
    bool known;                /* the next ones are: the kernel's counts when the thread's recording began, or
                                  when it was forked */
    struct switch_counts before;
    uint64_t cpu_before, monotonic_before; /* nanoseconds */
};

/* Signals are held back in all of these but the last one. */

/* `forked`: the thread is that of a forked child. Its counts began with the fork, and so did its time, at t->last. */
void switches_begin_thread(struct thread *t, bool forked);

/* Appends the kernel's counts since the thread began to the session. */
void switches_note(const struct thread *t);

/* What the ring has missed: the kernel's counts less what was seen, and less `events`; and for how many ticks. False if
 * it cannot be known. For the calling thread. */
bool switches_missed(const struct thread *t, const struct os_events *events, struct switch_counts *counts,
                     uint64_t *ticks);

/* The part of the missed ticks in which the calling thread was preempted. */
uint64_t switches_preempted(const struct thread *t, const struct switch_counts *missed, uint64_t ticks);

/* Nanoseconds that the calling thread has spent on a CPU. False if the system does not say. */
bool switches_read_cpu(uint64_t *cpu);

static inline uint64_t switches_sum(const struct switch_counts *counts)
{
    return counts->waits + counts->preemptions;
}

#pragma GCC visibility pop

#endif
