/*
 * Frames that were left without an exit, by longjmp or an exception.
 */
#ifndef DWELL_FRAMES_LEFT_H
#define DWELL_FRAMES_LEFT_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct event;
struct thread;

/* The number of calls that were left without an exit before this event; -1 if it is an exit whose enter was not
 * recorded. */
int64_t frames_left_before(const struct thread *t, uint64_t state, const struct event *event);

/* The program goes from stack pointer `from` to `target`. Marks the calls that it leaves by this: those below
 * `target`, and those on the stack of signal handlers if the target is on another. The thread's next event records
 * that. Any time, on the calling thread. */
void frames_leave(struct thread *t, uint64_t from, uint64_t target);

#pragma GCC visibility pop

#endif
