/* What threads do about levels: the checks that calls of the probes lead to, and how a thread confirms that it knows of
 * a change. */
#ifndef DWELL_LEVELS_LEVEL_CHECK_H
#define DWELL_LEVELS_LEVEL_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "frames_left.h"

#pragma GCC visibility push(hidden)

struct event;
struct thread;

/* In a thread's block. */
struct thread_levels {
    uint32_t asked;         /* not zero: another thread waits for `seen` to change */
    uint32_t seen;          /* generation of changes: no call that began before it is still on its way to a probe */
    uint32_t inside;        /* not zero: the thread is on the slow path, where it may sleep */
    uint64_t stack_end;     /* of its own stack; zero if it is not known */
    struct frame_exit exit; /* the one on its way to the probe that was told apart from those of counted calls */
};

/* The calling thread begins to be recorded in this process. `forked`: its block comes from the parent process. With
 * signals held back. */
void level_begin_thread(struct thread *t, bool forked);

/* Take the places of the probes. */
void level_checked_enter(void *function, void *call_site);
void level_checked_exit(void *function, void *call_site);

/* The exit of a timed function whose results are recorded: its call may be one to keep. */
void level_exit_if_watched(const struct frame_exit *exit);

/* Takes the place of the enter probe for a counted function whose counter has no page. */
void level_counted_enter(void *function, void *call_site);

/* Whether an enter on the slow path is not to be recorded: its function is not timed, and no timed call of it is open
 * on this thread. Counts it if its function is counted. */
bool level_takes_enter(struct thread *t, const struct event *event);

/* Sets t->levels.seen, if the event of the calling thread at that stack pointer shows that nothing is on its way. */
void level_answer(struct thread *t, uint64_t stack_pointer);

/* Adds one to the generation, and returns it. What was stored before is seen by threads that have seen it. */
uint32_t level_next_generation(void);

/* For another thread: asks threads that have not seen the last generation, and returns the oldest that one of them has
 * seen. Then marks functions with open calls by `number` in the table. */
uint32_t level_ask_threads(void);
void level_mark_open_calls(uint32_t number);

#pragma GCC visibility pop

#endif
