/*
 * Defines what a thread's events do to its stack of open calls. Only this file interprets control events, frames left
 * without an exit, changes of the stack, and pauses. A reader supplies a table of functions, one for each effect.
 *
 *     static const struct stack_actions actions = { .depth = ..., ... };
 *     struct stack_state s;
 *     stack_begin(&s, chunk);
 *     stack_apply_all(&actions, reader, &s, &d);
 *
 * Both are compiled into each reader, with a constant table: then a plain enter or exit costs no call. stack_apply is
 * for readers that do more with each event. A function of the table that passes a part of the decoder to a function
 * that is not compiled into it must pass a copy: then the decoder stays in registers.
 */
#ifndef DWELL_TRACE_STACK_H
#define DWELL_TRACE_STACK_H

#include "trace/decode.h"

/* A thread between two of its events. */
struct stack_state {
    uint64_t last; /* time of the previous event, or of the chunk's start */
    bool paused;
};

/* All functions are called at the time of the event, d->time. Only `leaf` may be NULL. `to` is the reader. */
struct stack_actions {
    /* The number of open calls. */
    size_t (*depth)(const void *to);
    /* The time since `begin` and its OS events belong to the innermost open call. The call comes before the event
     * changes the stack. */
    void (*interval)(void *to, const struct decoder *d, uint64_t begin);
    /* The time since `begin` belongs to no call: the thread was paused. */
    void (*skip)(void *to, const struct decoder *d, uint64_t begin);
    /* The enter times of all open calls move by these ticks. */
    void (*delay)(void *to, uint64_t ticks);
    /* A call of d->function begins. */
    void (*enter)(void *to, const struct decoder *d);
    /* The innermost call ends: with an exit; without an exit; or at an unknown time in a pause. */
    void (*exit)(void *to, const struct decoder *d);
    void (*left)(void *to, const struct decoder *d);
    void (*ended)(void *to, const struct decoder *d);
    /* Replaces enter, interval and exit in stack_apply_all, if they follow each other: a call of d->function began at
     * `entered` and ended at d->time. */
    void (*leaf)(void *to, const struct decoder *d, uint64_t entered);
    /* An exit while no call is open. */
    void (*stray_exit)(void *to, const struct decoder *d);
    /* The thread changes to another stack. All open calls are removed, and can be found open later. */
    void (*set_aside)(void *to, const struct decoder *d);
    /* A call that was entered earlier is open, on top of the other open calls. `site` is zero if unknown. */
    void (*open)(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site);
    void (*pause)(void *to, const struct decoder *d);
    void (*resume)(void *to, const struct decoder *d); /* before calls that ended in the pause are removed */
    void (*mark)(void *to, const struct decoder *d);   /* see decode_mark */
};

#ifdef DWELL_SELDOM_INLINE
#define STACK_INLINE static inline
#else
#define STACK_INLINE static inline __attribute__((always_inline))
#endif

/* The i-th open call at the start of the chunk in `buffer`, outermost first. Its enter time is limited to that start.
 */
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

/* Without `was_paused`, the chunk began within the pause, and its open calls are those of now. */
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

/* Ends the interval before the event. Before a RESUME the thread was paused, even if the chunk does not contain the
 * PAUSE. Any other event of a paused thread shows that its RESUME was lost. */
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

/* Applies an event that has extensions, or an event of a paused thread. */
STACK_INLINE void stack_apply_rare(const struct stack_actions *actions, void *to, struct stack_state *s,
                                   enum decoded event, const struct decoder *d, uint64_t begin)
{
    const bool was_paused = s->paused;
    const bool resumes = event == DECODED_CONTROL && d->control_type == DWELL_EXT_RESUME;
    stack_end_interval(actions, to, s, d, begin, resumes);
    for (uint32_t left = d->extras.unwound; left > 0 && actions->depth(to) > 0; left--)
        actions->left(to, d);
    if (event == DECODED_CONTROL) {
        const struct decoder copy = *d; /* so that the caller's decoder has no address and stays in registers */
        stack_apply_control(actions, to, s, &copy, was_paused);
    } else {
        stack_apply_call(actions, to, event, d);
    }
}

/* Applies the event that was just decoded, and resets the decoder's extras. */
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

/* Applies events up to the first one that has extensions, or with `limited` that is not before `until`. */
STACK_INLINE void stack_apply_run(const struct stack_actions *actions, void *to, struct stack_state *s,
                                  struct decoder *d, bool limited, uint64_t until)
{
    struct decoder plain = { /* only what these events need, so that it stays in registers */
                             .at = d->at,
                             .end = d->end,
                             .time = d->time,
                             .upper = { d->upper[0], d->upper[1] }
    };
    uint64_t last = s->last;
    for (;;) {
        const uint8_t *const at = plain.at;
        const uint64_t time = plain.time;
        const enum decoded event = decode_plain(&plain);
        if (event == DECODED_END)
            break;
        if (limited && __builtin_expect(plain.time >= until, 0)) {
            plain.at = at;
            plain.time = time;
            break;
        }
        actions->interval(to, &plain, last);
        last = plain.time;
        if (actions->leaf && event == DECODED_ENTER && decode_exit_follows(&plain) &&
            (!limited || decode_time(last, decode_word(plain.at), DWELL_TIME_BITS) < until)) {
            decode_plain(&plain);
            actions->leaf(to, &plain, last);
            last = plain.time;
        } else {
            stack_apply_call(actions, to, event, &plain);
        }
        plain.site = (struct decoded_site){ 0 };
    }
    s->last = last;
    d->at = plain.at;
    d->time = plain.time;
}

STACK_INLINE void stack_apply_plain(const struct stack_actions *actions, void *to, struct stack_state *s,
                                    struct decoder *d)
{
    stack_apply_run(actions, to, s, d, false, 0);
}

/* Only for a thread that is not paused. Needs the actions depth, interval, enter, exit and stray_exit. */
STACK_INLINE void stack_apply_plain_until(const struct stack_actions *actions, void *to, struct stack_state *s,
                                          struct decoder *d, uint64_t until)
{
    stack_apply_run(actions, to, s, d, true, until);
}

/* Applies all events that have been read. */
STACK_INLINE void stack_apply_all(const struct stack_actions *actions, void *to, struct stack_state *s,
                                  struct decoder *d)
{
    enum decoded event;
    do {
        if (!s->paused)
            stack_apply_plain(actions, to, s, d);
        event = decode_next(d);
        if (event != DECODED_END)
            stack_apply(actions, to, s, event, d);
    } while (event != DECODED_END);
}

/* Returns the thread if the time from its last event to its end is known and belongs to its innermost call, else NULL.
 * The state must be that after the last event of the chunk. */
const struct trace_thread *stack_thread_end(const struct session_file *file, const struct trace_chunk *chunk,
                                            const struct stack_state *s);

/* The OS events of that time, which is `length` ticks long. `module` is the path of the innermost call's module, or "".
 */
struct decoded_extras stack_end_extras(const struct trace_thread *t, const char *module, uint64_t length);

#endif
