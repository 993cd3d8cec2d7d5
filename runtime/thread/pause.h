/*
 * Pauses of a thread: its shadow stack is kept, and nothing is recorded. While a thread is paused, the low half of its
 * state counts events instead of being a position: a probe that a handler interrupted finds that the state has changed.
 */
#ifndef DWELL_PAUSE_H
#define DWELL_PAUSE_H

#include "attempt.h"
#include "common.h"
#include "extensions.h"

#pragma GCC visibility push(hidden)

struct event;
struct thread;

/* Low halves of the state while paused; no position of a recording is among them. */
#define PAUSE_FIRST_POSITION 0x78000000u
#define PAUSE_LAST_POSITION 0xf0000000u

/* In a thread's block. Depths are in bytes of the shadow stack. */
struct thread_pause {
    uint32_t active;          /* nothing is recorded, but the shadow stack is kept */
    uint32_t next_position;   /* while not paused: the first low half of the state in the next pause */
    uint32_t resume_position; /* while paused: the position at which recording goes on */
    uint32_t depth;           /* while paused: the depth at its beginning */
    uint32_t kept_depth;      /* while paused: the lowest depth so far; calls below it are as they were */
    uint64_t since;           /* while paused: time of its beginning, in ticks */
};

/* Applies an event of the slow path to the shadow stack. `guarded`: signals are held back. Without, a handler may end
 * the pause, and the event is to be tried again. */
enum attempt_outcome pause_record(struct thread *t, const struct event *event, bool guarded);

/* For recorders, after a pause: the resume event, whose words go to `words`; and whether it fits into the thread's
 * chunk. */
enum { PAUSE_RESUME_WORDS = 2 };
struct control_event pause_resume_event(const struct thread *t, uint64_t time, uint16_t words[PAUSE_RESUME_WORDS]);
bool pause_resume_fits(const struct thread *t, const struct control_event *resume);

/* Begin and end a pause at that time, in ticks. Signals are held back. */
void pause_begin(struct thread *t, uint64_t time);
void pause_end(struct thread *t, uint64_t time);

#pragma GCC visibility pop

#endif
