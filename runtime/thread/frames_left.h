/*
 * Frames that were left without an exit, by longjmp or an exception.
 */
#ifndef DWELL_FRAMES_LEFT_H
#define DWELL_FRAMES_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"

#pragma GCC visibility push(hidden)

struct call;
struct event;
struct thread;

/* An exit of a function some of whose open calls are counted: below a recorded one, that is. */
struct frame_exit {
    uint64_t function;
    uint64_t stack_pointer;
    uint64_t returns; /* where its frame returns to; zero if that is not known */
    bool tail_call;
};

/* The open call that this exit ends; NULL if that is a call that was not recorded. On the calling thread `t`. */
const struct call *frames_ended(const struct thread *t, uint64_t state, const struct frame_exit *exit);

/* The number of calls that were left without an exit before this event; -1 if it is an exit whose enter was not
 * recorded. */
int64_t frames_left_before(const struct thread *t, uint64_t state, const struct event *event);

/* The program goes from stack pointer `from` to `target`. Marks the calls that it leaves by this: those below
 * `target`, and those on the stack of signal handlers if the target is on another. The thread's next event records
 * that. Any time, on the calling thread. */
void frames_leave(struct thread *t, uint64_t from, uint64_t target);

#pragma GCC visibility pop

#endif
