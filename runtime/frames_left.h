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

/* Marks the calls whose frames lie below `stack_pointer` as left; the thread's next event records that. Any time, on
 * the calling thread. */
void frames_leave_below(struct thread *t, uint64_t stack_pointer);

#pragma GCC visibility pop

#endif
