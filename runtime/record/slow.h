/*
 * The slow path: events that the probes do not handle themselves. All of it may be called by any thread at any time, in
 * signal handlers, too, unless a function says otherwise. errno is kept.
 */
#ifndef DWELL_SLOW_H
#define DWELL_SLOW_H

#include "call.h"
#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct object;
struct thread;

/* An enter or exit. */
struct event {
    uint64_t function;
    uint64_t stack_pointer;
    uint64_t frame_id;    /* of an enter */
    struct origin origin; /* of an enter, if call sites are recorded */
    bool enter;
    bool counted;                /* an enter that is only counted, even if the function's level has changed meanwhile */
    bool tail_call;              /* of an exit: its probe was reached by a jump, and the frame is gone */
    bool flagged;                /* an exit: the operating system intervened, whether its source has seen it or not */
    const struct object *object; /* an exit: what the call waited for or acted on; else NULL */
};

DWELL_COLD void slow_enter(uint64_t function, uint64_t stack_pointer, uint64_t frame_id);
DWELL_COLD void slow_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                                uint64_t probe_return);
DWELL_COLD void slow_count(uint64_t function, uint64_t stack_pointer);
DWELL_COLD void slow_exit(uint64_t function, uint64_t stack_pointer, bool tail_call);

/* What all of these do, but for the vector registers: those four change none. */
DWELL_COLD void slow_take_event(const struct event *event);

/* The end of a call of the operating system (oscalls.c). `object` may be NULL. */
void slow_exit_os_call(uint64_t function, uint64_t stack_pointer, const struct object *object, bool flagged);

/* Counts an event that is not recorded. */
void slow_count_lost(void);

#pragma GCC visibility pop

#endif
