/*
 * The loop over events that adds up what the calls of the function did, by call path and by what their time was. All
 * that is called for usual events is compiled into the loop, so that the decoder stays in registers.
 */
#include <string.h>

#include "base/numbers.h"
#include "causes/why_worker.h"
#include "profile/identify.h"
#include "profile/interval.h"

/* ---- rows ---- */

static enum why_kind why_kind_of_wait(const struct why_wait *wait)
{
    if (strcmp(wait->kind, "file") == 0)
        return WHY_FILE;
    return strcmp(wait->kind, "fault") == 0 ? WHY_FAULT : WHY_BLOCKED;
}

/* `wait`: 1 + its number, or zero. */
static void why_add_blocked(struct why_worker *w, uint32_t node, uint32_t wait, uint64_t ticks)
{
    const uint64_t key = (uint64_t)node << 32 | wait;
    struct index_slot *slot = index_find(w->wait_rows, key, 0);
    if (!slot->value_plus_1) {
        const enum why_kind kind = wait ? why_kind_of_wait(&w->job->plan->waits->list[wait - 1]) : WHY_BLOCKED;
        index_set(w->wait_rows, slot, key, 0, why_add_row(w, node, kind, wait));
        slot = index_find(w->wait_rows, key, 0);
    }
    struct why_now *now = why_touch(w, slot->value_plus_1 - 1);
    now->ticks += ticks;
    now->count++;
}

/* ---- paths ---- */

__attribute__((noinline)) static uint32_t why_add_child(struct why_worker *w, uint32_t parent, uint64_t address,
                                                        uint64_t time, uint64_t key)
{
    struct profile *p = w->found.paths;
    const size_t before = p->node_count;
    const uint32_t above = parent == PROFILE_NONE ? w->root : w->found.rows[parent].node;
    const uint32_t node = profile_child(p, above, identify_function(p, w->process, address, time));
    while (w->first_room <= node) {
        size_t count = w->first_room;
        GROW(w->first_rows, count, w->first_room);
    }
    if (p->node_count != before) { /* otherwise, it is known by another address, as in another process */
        w->first_rows[node] = why_add_row(w, node, WHY_CPU, 0);
        why_add_row(w, node, WHY_FAULT, 0);
    }
    index_set(w->children, index_find(w->children, key, parent), key, parent, w->first_rows[node]);
    return w->first_rows[node];
}

/* The first row of a path. `parent` is that of its caller, or PROFILE_NONE for the function itself. */
STACK_INLINE uint32_t why_child(struct why_worker *w, uint32_t parent, uint64_t address, uint64_t time, uint64_t key)
{
    const struct index_slot *slot = index_find(w->children, key, parent);
    if (__builtin_expect(slot->value_plus_1 != 0, 1))
        return slot->value_plus_1 - 1;
    return why_add_child(w, parent, address, time, key);
}

/* ---- calls ---- */

STACK_INLINE struct why_now *why_count_call(struct why_worker *w, uint32_t row)
{
    struct why_now *now = why_touch(w, row);
    now->count++;
    now->charge += w->probes.in_callee;
    return now;
}

STACK_INLINE void why_count_callee(struct why_worker *w, struct why_frame *caller)
{
    why_touch(w, caller->row)->charge += w->probes.in_caller + (caller->called ? 0 : w->probes.first_callee);
    caller->called = true;
}

/* A call outside of those of the function, or one of these. */
STACK_INLINE void why_rows_push_outside(struct why_worker *w, uint64_t address, uint64_t time, bool entered)
{
    const uint64_t key = why_key(w, address, time);
    struct why_frame *frame = why_push_frame(w, address, PROFILE_NONE);
    if (__builtin_expect(!why_is_function(w, address, time, key), 1))
        return;
    why_begin_call(w, time, entered);
    frame->row = why_child(w, PROFILE_NONE, address, time, key);
    if (entered)
        why_count_call(w, frame->row);
}

/* A call in one of the function. */
STACK_INLINE uint32_t why_rows_inside(struct why_worker *w, uint64_t address, uint64_t time)
{
    return why_child(w, w->stack[w->depth - 1].row, address, time, why_key(w, address, time));
}

void why_rows_open(struct why_worker *w, uint64_t address, uint64_t time)
{
    if (w->open)
        why_push_frame(w, address, why_rows_inside(w, address, time));
    else
        why_rows_push_outside(w, address, time, false);
}

/* ---- intervals ---- */

/* The parts of an interval with events of the system. */
static void why_add_parts(struct why_worker *w, uint32_t row, const struct decoded_extras *extras, uint64_t begin,
                          uint64_t end)
{
    const struct why_waits *waits = w->job->plan->waits;
    const struct interval_parts p = interval_parts(extras, end - begin);
    const uint32_t node = w->found.rows[row].node;
    uint64_t blocked = p.blocked;
    for (; w->next_wait < waits->interval_count; w->next_wait++) {
        const struct why_interval *i = &waits->intervals[w->next_wait];
        if (i->thread > w->thread || (i->thread == w->thread && i->begin > begin))
            break;
        if (i->thread != w->thread || i->begin != begin || i->end != end || !blocked)
            continue;
        const uint64_t ticks = smaller(i->ticks, blocked);
        why_add_blocked(w, node, 1 + i->wait, ticks);
        blocked -= ticks;
    }
    if (blocked)
        why_add_blocked(w, node, 0, blocked);
    if (p.preempted) {
        struct why_now *runnable = why_touch(w, ROW_RUNNABLE);
        runnable->ticks += p.preempted;
        runnable->count++;
    }
    const bool raw = w->job->plan->loaded->summary.raw;
    const uint64_t ran = end - begin - p.blocked - p.preempted, own = raw ? 0 : smaller(p.runtime, ran);
    if (own)
        why_touch(w, ROW_PROBE)->ticks += own;
    const bool faults = extras->page_faults && (ran - own) / extras->page_faults <= w->job->plan->fault_ticks;
    struct why_now *now = why_touch(w, row + (faults ? PATH_FAULT : PATH_CPU));
    now->ticks += ran - own;
    now->count += faults ? extras->page_faults : 0;
    if (faults)
        sampled_paths_skip(&w->sampled, end); /* they are of no CPU row */
}

__attribute__((noinline)) static void why_add_extras(struct why_worker *w, const struct decoded_extras *extras,
                                                     uint64_t begin, uint64_t end)
{
    why_cpus_note(&w->cpus, extras);
    if (w->open)
        why_add_parts(w, w->stack[w->depth - 1].row, extras, begin, end);
}

/* ---- actions on events ---- */

static inline size_t why_rows_depth(const void *to)
{
    const struct why_worker *w = to;
    return w->depth;
}

STACK_INLINE void why_rows_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct why_worker *w = to;
    if (__builtin_expect(d->has_extras, 0)) {
        const struct decoded_extras extras = d->extras;
        why_add_extras(w, &extras, begin, d->time);
    } else if (w->open) {
        why_touch(w, w->stack[w->depth - 1].row)->ticks += d->time - begin;
    }
    if (__builtin_expect(w->sampled.next_time < d->time, 0))
        why_samples_take(w, w->open ? w->stack[w->depth - 1].row : PROFILE_NONE, d->time);
}

STACK_INLINE void why_rows_skip(void *to, const struct decoder *d, uint64_t begin)
{
    struct why_worker *w = to;
    w->excluded += d->time - begin;
    sampled_paths_skip(&w->sampled, d->time);
}

static inline void why_rows_delay(void *to, uint64_t ticks)
{
    (void)to;
    (void)ticks;
}

STACK_INLINE void why_rows_enter(void *to, const struct decoder *d)
{
    struct why_worker *w = to;
    if (!w->open) {
        why_rows_push_outside(w, d->function, d->time, true);
        return;
    }
    struct why_frame *frame = why_push_frame(w, d->function, why_rows_inside(w, d->function, d->time));
    why_count_call(w, frame->row);
    why_count_callee(w, frame - 1);
}

STACK_INLINE void why_rows_exit(void *to, const struct decoder *d)
{
    struct why_worker *w = to;
    if (w->depth-- == w->open)
        why_end_call(w, d->time);
}

STACK_INLINE void why_rows_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct why_worker *w = to;
    if (w->open) {
        const uint32_t row = why_rows_inside(w, d->function, entered);
        why_count_call(w, row)->ticks += d->time - entered;
        why_count_callee(w, &w->stack[w->depth - 1]);
        if (__builtin_expect(w->sampled.next_time < d->time, 0))
            why_samples_take(w, row, d->time);
        return;
    }
    why_rows_push_outside(w, d->function, entered, true);
    if (w->open)
        why_touch(w, w->stack[w->depth - 1].row)->ticks += d->time - entered;
    if (__builtin_expect(w->sampled.next_time < d->time, 0))
        why_samples_take(w, w->open ? w->stack[w->depth - 1].row : PROFILE_NONE, d->time);
    why_rows_exit(to, d);
}

static inline void why_rows_ended(void *to, const struct decoder *d)
{
    why_ended(to, d->time);
}

static inline void why_rows_nothing(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

static inline void why_rows_set_aside(void *to, const struct decoder *d)
{
    (void)d;
    why_set_aside(to);
}

static inline void why_rows_open_again(void *to, const struct decoder *d, const struct dwell_frame *frame,
                                       uint64_t site)
{
    (void)site;
    why_rows_open(to, frame->function, d->time);
}

void why_rows_events(struct why_worker *w, struct stack_state *state, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = why_rows_depth,
        .interval = why_rows_interval,
        .skip = why_rows_skip,
        .delay = why_rows_delay,
        .enter = why_rows_enter,
        .exit = why_rows_exit,
        .leaf = why_rows_leaf,
        .left = why_rows_exit,
        .ended = why_rows_ended,
        .stray_exit = why_rows_nothing,
        .set_aside = why_rows_set_aside,
        .open = why_rows_open_again,
        .pause = why_rows_nothing,
        .resume = why_rows_nothing,
        .mark = why_rows_nothing,
    };
    stack_apply_all(&actions, w, state, d);
}
