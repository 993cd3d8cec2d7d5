/* Whether a thread is recorded now, at its own scope and at the process'. */
#ifndef DWELL_RUNTIME_ACTIVATION_H
#define DWELL_RUNTIME_ACTIVATION_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

enum { CHANGES_KEPT = 64 };

/* One of the scopes at which recording is switched: it is on if it is started, and not suspended. */
struct activation {
    uint32_t stopped;
    int32_t suspended; /* calls of pause less calls of resume */
};

/* In a thread's block. */
struct thread_control {
    uint32_t attend;       /* another thread has changed `activation` */
    uint32_t seen_changes; /* the process' `control.changes` that the thread has seen */
    struct activation activation;
};

/* The process was switched on or off at that time, in ticks. */
struct control_change {
    uint64_t time;
    uint32_t on;
};

/* In the process' block. */
struct process_control {
    uint32_t changes;                           /* number of times it was switched on or off */
    struct control_change change[CHANGES_KEPT]; /* the last ones, at [number % CHANGES_KEPT] */
    uint32_t dump_wanted;                       /* by a signal */
    uint32_t asking;                            /* lock: a thread asks the recorder */
    struct dwell_control *chunk;                /* NULL if the process takes no commands from outside */
};

bool activation_is_on(const struct activation *s);

/* Brings the calling thread to the requested state. */
void activation_attend(struct thread *t);

/* The same after the end of a call that a filter ignores. Signals are held back. */
void activation_reconsider(struct thread *t);

/* `forked`: the thread's block comes from the parent process. Signals are held back. */
void activation_begin_thread(struct thread *t, bool forked);

#pragma GCC visibility pop

#endif
