/*
 * The time that the runtime itself takes in slow probes: only that on a CPU. If a probe is preempted or blocked, that
 * time is the function's, as it would be without the probe.
 */
#ifndef DWELL_OWN_TIME_H
#define DWELL_OWN_TIME_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct thread;

/* A moment of a thread, in ticks: by the clock, and by its time on a CPU, which begins anywhere. */
struct own_moment {
    uint64_t time; /* zero: it is not known, and all that has passed since then is zero */
    uint64_t cpu;
    uint64_t waits; /* how often the thread had waited by then, as far as its source of OS events says */
};

/* The present moment of the calling thread. Signals may come in. */
struct own_moment own_now(const struct thread *t);

/* The moment of an event at `time`, right after it: all that the OS did before it has been read. */
struct own_moment own_of_event(const struct thread *t, uint64_t time);

/* Ticks on a CPU, and waits, since that moment, from which on the thread's source of OS events has been the same. */
struct own_span {
    uint64_t cpu, waits;
};
struct own_span own_since(const struct thread *t, const struct own_moment *begin);

/* For a forked child, whose thread is not set up: nanoseconds of CPU time, or 0, and the moment when it was read. */
struct own_unset {
    uint64_t time, cpu;
};
struct own_unset own_before_setup(void);
struct own_moment own_after_setup(const struct thread *t, const struct own_unset *before);

#pragma GCC visibility pop

#endif
