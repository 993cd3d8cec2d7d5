/*
 * Switching the recording on and off, from the program and from outside.
 */
#ifndef DWELL_CONTROL_H
#define DWELL_CONTROL_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct process;
struct thread;

enum { CHANGES_KEPT = 64 };

/* One of the levels at which recording is switched: it is on if it is started, and not suspended. */
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

/* Whether the thread has to call control_attend before its next event. */
bool control_pending(const struct thread *t);

/* Brings the calling thread to the requested state. */
void control_attend(struct thread *t);

/* The same after the end of a call that a filter ignores. Signals are held back. */
void control_reconsider(struct thread *t);

/* The thread takes the slow path at its next probe. Under the process' lock. */
void control_call_thread(struct thread *t);

/* Adds one to a count that all threads compare before their next event. Signals are held back. */
void control_notify(uint32_t *count);

/* `forked`: the thread's block comes from the parent process. Signals are held back. */
void control_begin_thread(struct thread *t, bool forked);

/* Makes the process' control chunk in the session `fd`. */
void control_begin_process(int fd);

/* A filter switches the process on or off. */
void control_trigger(bool on);

/* Installs the handler of the signal that asks for a copy of the session, if the user wants one. */
void control_dump_on_signal(void);

/* Carries out the commands that have come from outside. In the helper; `fd` is its descriptor of the session. */
void control_take_commands(struct process *p, int fd);

/* The calling thread, set up. NULL if nothing is recorded. */
struct thread *control_thread(void);

#pragma GCC visibility pop

#endif
