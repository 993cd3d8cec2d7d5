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

struct thread;

/* An enter or exit. */
struct event {
    uint64_t function;
    uint64_t stack_pointer;
    uint64_t frame_id;    /* of an enter */
    struct origin origin; /* of an enter, if call sites are recorded */
    bool enter;
    bool tail_call; /* of an exit: its probe was reached by a jump, and the frame is gone */
    bool flagged;   /* an exit: the operating system intervened, whether its source has seen it or not */
};

DWELL_COLD void slow_enter(uint64_t function, uint64_t stack_pointer, uint64_t frame_id);
DWELL_COLD void slow_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                                uint64_t probe_return);
DWELL_COLD void slow_exit(uint64_t function, uint64_t stack_pointer, bool tail_call);

/* The end of a call of the operating system (oscalls.c). */
void slow_exit_flagged(uint64_t function, uint64_t stack_pointer);

/* Counts an event that is not recorded. */
void slow_count_lost(void);

/* A control event as docs/format.md has them: `count` words behind its time, and before it the `opened` uppermost calls
 * of the shadow stack. `ended` calls are not open any more. */
struct control_event {
    enum dwell_extension type;
    uint64_t time; /* ticks */
    const uint16_t *words;
    int count;
    uint32_t opened, ended;
};
enum { MAX_OPENED = 16 };

/* Signals are held back in the following. */
uint32_t slow_control_bytes(const struct control_event *event);
void slow_control(struct thread *t, const struct control_event *event);
/* For filter.c: an enter or exit of a call, which may lie above the stack, with what is kept in the thread for it. */
void slow_emit(struct thread *t, uint64_t time, const struct call *call, bool enter);
void slow_keep_os_events(struct thread *t);
void slow_keep_flag(struct thread *t);

#pragma GCC visibility pop

#endif
