/*
 * What a thread's events mean for its stack of open calls: the only place where control events, frames that were left,
 * changes of the stack and pauses are interpreted. A reader says by a table of functions what it does about each.
 *
 *     static const struct stack_actions actions = { .depth = ..., ... };
 *     struct stack_state s;
 *     stack_begin(&s, chunk);
 *     while ((event = decode_next(&d)) != DECODED_END)
 *         stack_apply(&actions, reader, &s, event, &d);
 *
 * stack_apply is compiled into each reader, with a constant table: then a plain enter or exit costs no call.
 */
#ifndef DWELL_TRACE_STACK_H
#define DWELL_TRACE_STACK_H

#include "trace/decode.h"

/* A thread between two of its events. */
struct stack_state {
    uint64_t last; /* time of the event before, or of the chunk's start */
    bool paused;
};

/* All are called at the time of the event, d->time, and none is NULL. `to` is the reader. */
struct stack_actions {
    /* How many calls are open. */
    size_t (*depth)(const void *to);
    /* The time since `begin` belongs to the innermost open call, with what the OS did then. It comes before the event
     * changes the stack. */
    void (*interval)(void *to, const struct decoder *d, uint64_t begin);
    /* The same time belongs to no call: nothing was recorded in it. */
    void (*skip)(void *to, const struct decoder *d, uint64_t begin);
    /* All open calls are as if they had been entered so many ticks later. */
    void (*delay)(void *to, uint64_t ticks);
    /* A call of d->function begins. */
    void (*enter)(void *to, const struct decoder *d);
    /* The innermost call ends: with an exit; without one; at an unknown time in a pause. */
    void (*exit)(void *to, const struct decoder *d);
    void (*left)(void *to, const struct decoder *d);
    void (*ended)(void *to, const struct decoder *d);
    /* An exit while no call is open. */
    void (*stray_exit)(void *to, const struct decoder *d);
    /* The thread leaves its stack for another one: all open calls come off, and may be found open later. */
    void (*set_aside)(void *to, const struct decoder *d);
    /* A call that was entered before is open, above those that are open already. `site`: zero if unknown. */
    void (*open)(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site);
    void (*pause)(void *to, const struct decoder *d);
    void (*resume)(void *to, const struct decoder *d); /* before calls that ended meanwhile come off */
    void (*mark)(void *to, const struct decoder *d);   /* see decode_mark */
};

#define STACK_INLINE static inline __attribute__((always_inline))

/* The i-th call that is open when the chunk in `buffer` begins, outermost first. None was entered later than that. */
static inline struct dwell_frame stack_frame(const struct trace_chunk *chunk, const uint8_t *buffer, uint32_t i)
{
    struct dwell_frame frame = decode_frame(buffer, i);
    if (frame.enter_time > chunk->start_time)
        frame.enter_time = chunk->start_time;
    return frame;
}

STACK_INLINE void stack_begin(struct stack_state *s, const struct trace_chunk *chunk)
{
    s->last = chunk->start_time;
    s->paused = chunk->begins_paused;
}

STACK_INLINE void stack_open_calls(const struct stack_actions *actions, void *to, const struct decoder *d)
{
    struct dwell_frame frame;
    uint64_t site;
    for (const uint8_t *at = d->run; (at = decode_opened_from(d, at, &frame, &site));)
        actions->open(to, d, &frame, site);
}

/* `was_paused`: otherwise the chunk began in the pause, with the calls that are open now. */
STACK_INLINE void stack_resume(const struct stack_actions *actions, void *to, const struct decoder *d, bool was_paused)
{
    actions->resume(to, d);
    if (!was_paused)
        return;
    for (uint64_t ended = decode_number(d->control, 2); ended > 0 && actions->depth(to) > 0; ended--)
        actions->ended(to, d);
    stack_open_calls(actions, to, d);
}

STACK_INLINE void stack_apply_control(const struct stack_actions *actions, void *to, struct stack_state *s,
                                      const struct decoder *d, bool was_paused)
{
    switch (d->control_type) {
    case DWELL_EXT_PAUSE:
        s->paused = true;
        actions->pause(to, d);
        break;
    case DWELL_EXT_RESUME:
        stack_resume(actions, to, d, was_paused);
        break;
    case DWELL_EXT_SWITCH:
        actions->set_aside(to, d);
        stack_open_calls(actions, to, d);
        break;
    case DWELL_EXT_MARK:
        actions->mark(to, d);
        break;
    default:
        break;
    }
}

STACK_INLINE void stack_apply_call(const struct stack_actions *actions, void *to, enum decoded event,
                                   const struct decoder *d)
{
    if (event == DECODED_ENTER)
        actions->enter(to, d);
    else if (__builtin_expect(actions->depth(to) > 0, 1))
        actions->exit(to, d);
    else
        actions->stray_exit(to, d);
}

/* The time up to the event. What ends at a RESUME was paused, even where the chunk does not hold the PAUSE. Any other
 * event of a paused thread says that it records again, and that its RESUME was lost. */
STACK_INLINE void stack_end_interval(const struct stack_actions *actions, void *to, struct stack_state *s,
                                     const struct decoder *d, uint64_t begin, bool resumes)
{
    if (!s->paused && !resumes) {
        actions->interval(to, d, begin);
        return;
    }
    actions->skip(to, d, begin);
    if (s->paused) {
        actions->delay(to, d->time - begin);
        s->paused = false;
        if (!resumes)
            actions->resume(to, d);
    }
}

/* An event with extensions, or of a paused thread. */
STACK_INLINE void stack_apply_rare(const struct stack_actions *actions, void *to, struct stack_state *s,
                                   enum decoded event, const struct decoder *d, uint64_t begin)
{
    const bool was_paused = s->paused;
    const bool resumes = event == DECODED_CONTROL && d->control_type == DWELL_EXT_RESUME;
    stack_end_interval(actions, to, s, d, begin, resumes);
    for (uint32_t left = d->extras.unwound; left > 0 && actions->depth(to) > 0; left--)
        actions->left(to, d);
    if (event == DECODED_CONTROL) {
        const struct decoder copy = *d; /* so that the caller's own has no address, and stays in registers */
        stack_apply_control(actions, to, s, &copy, was_paused);
    } else {
        stack_apply_call(actions, to, event, d);
    }
}

/* Applies the event that was just decoded. The decoder's extras are used up then. */
STACK_INLINE void stack_apply(const struct stack_actions *actions, void *to, struct stack_state *s, enum decoded event,
                              struct decoder *d)
{
    const uint64_t begin = s->last;
    s->last = d->time;
    if (__builtin_expect(d->has_extras | s->paused, 0)) {
        stack_apply_rare(actions, to, s, event, d, begin);
        memset(&d->extras, 0, sizeof d->extras);
        d->has_extras = false;
        return;
    }
    actions->interval(to, d, begin);
    stack_apply_call(actions, to, event, d);
}

/* The thread, if the time from its last event to its end is known and belongs to the innermost call of then: the state
 * is that behind the events of the chunk. NULL if not. */
const struct trace_thread *stack_thread_end(const struct session_file *file, const struct trace_chunk *chunk,
                                            const struct stack_state *s);

/* What the OS did in that time, of `length` ticks. `module`: path of the innermost call's, or "". */
struct decoded_extras stack_end_extras(const struct trace_thread *t, const char *module, uint64_t length);

#endif
