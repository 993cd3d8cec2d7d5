/*
 * The loop over events that finds how long the calls of the function took. Above an open call it only counts how many
 * calls are open. All that is called for usual events is compiled into the loop, so that the decoder stays in
 * registers.
 */
#include "base/numbers.h"
#include "causes/why_worker.h"
#include "profile/durations.h"
#include "profile/interval.h"

struct why_times_loop {
    struct why_worker *w;
    size_t depth, open; /* instead of the worker's */
};

STACK_INLINE void why_times_store(const struct why_times_loop *l)
{
    l->w->depth = l->depth;
}

STACK_INLINE void why_times_load(struct why_times_loop *l)
{
    l->depth = l->w->depth;
    l->open = l->w->open;
}

static inline size_t why_times_depth(const void *to)
{
    const struct why_times_loop *l = to;
    return l->depth;
}

/* What page faults cost on this machine shows where there are many of them. */
__attribute__((noinline)) static void why_note_faults(struct why_worker *w, const struct decoded_extras *extras,
                                                      uint64_t length)
{
    enum { MANY = 8 };
    const struct interval_parts p = interval_parts(extras, length);
    if (extras->page_faults >= MANY)
        durations_add(&w->found.faults, less(length - p.blocked - p.preempted, p.runtime) / extras->page_faults, 1, 0);
}

STACK_INLINE void why_times_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct why_times_loop *l = to;
    if (__builtin_expect(d->has_extras, 0) && l->open) {
        const struct decoded_extras extras = d->extras;
        why_note_faults(l->w, &extras, d->time - begin);
    }
}

STACK_INLINE void why_times_skip(void *to, const struct decoder *d, uint64_t begin)
{
    struct why_times_loop *l = to;
    l->w->excluded += d->time - begin;
}

static inline void why_times_delay(void *to, uint64_t ticks)
{
    (void)to;
    (void)ticks;
}

/* A call outside of those of the function, or one of these. */
STACK_INLINE void why_times_push(struct why_worker *w, uint64_t address, uint64_t time, bool entered)
{
    const uint64_t key = why_key(w, address, time);
    why_push_frame(w, address, PROFILE_NONE);
    if (__builtin_expect(why_is_function(w, address, time, key), 0))
        why_begin_call(w, time, entered);
}

STACK_INLINE void why_times_enter(void *to, const struct decoder *d)
{
    struct why_times_loop *l = to;
    if (l->open) {
        l->depth++;
        return;
    }
    why_times_store(l);
    why_times_push(l->w, d->function, d->time, true);
    why_times_load(l);
}

STACK_INLINE void why_times_exit(void *to, const struct decoder *d)
{
    struct why_times_loop *l = to;
    if (__builtin_expect(l->depth-- == l->open, 0)) {
        why_times_store(l);
        why_end_call(l->w, d->time);
        why_times_load(l);
    }
}

STACK_INLINE void why_times_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct why_times_loop *l = to;
    if (l->open)
        return;
    why_times_store(l);
    why_times_push(l->w, d->function, entered, true);
    why_times_load(l);
    why_times_exit(to, d);
}

static inline void why_times_ended(void *to, const struct decoder *d)
{
    struct why_times_loop *l = to;
    why_times_store(l);
    why_ended(l->w, d->time);
    why_times_load(l);
}

static inline void why_times_nothing(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

static inline void why_times_set_aside(void *to, const struct decoder *d)
{
    struct why_times_loop *l = to;
    (void)d;
    why_set_aside(l->w);
    why_times_load(l);
}

static inline void why_times_open_again(void *to, const struct decoder *d, const struct dwell_frame *frame,
                                        uint64_t site)
{
    struct why_times_loop *l = to;
    (void)site;
    why_times_store(l);
    why_times_open(l->w, frame->function, d->time);
    why_times_load(l);
}

void why_times_open(struct why_worker *w, uint64_t address, uint64_t time)
{
    if (w->open)
        w->depth++;
    else
        why_times_push(w, address, time, false);
}

void why_times_events(struct why_worker *w, struct stack_state *state, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = why_times_depth,
        .interval = why_times_interval,
        .skip = why_times_skip,
        .delay = why_times_delay,
        .enter = why_times_enter,
        .exit = why_times_exit,
        .leaf = why_times_leaf,
        .left = why_times_exit,
        .ended = why_times_ended,
        .stray_exit = why_times_nothing,
        .set_aside = why_times_set_aside,
        .open = why_times_open_again,
        .pause = why_times_nothing,
        .resume = why_times_nothing,
        .mark = why_times_nothing,
    };
    struct why_times_loop loop = { w, w->depth, w->open };
    stack_apply_all(&actions, &loop, state, d);
    why_times_store(&loop);
}
