/* What the loops over a collector's events share: its open calls, whether events are in its selection, the waits in its
 * intervals, and the actions on events of chunks that count as a whole. Only collector.c and collector_durations.c
 * include it. */
#ifndef DWELL_PROFILE_COLLECTOR_CALLS_H
#define DWELL_PROFILE_COLLECTOR_CALLS_H

#include "base/memory.h"
#include "profile/collector.h"
#include "profile/interval.h"
#include "profile/interval_limits.h"
#include "profile/waits.h"

struct collector_call {
    uint32_t node;
    uint64_t enter_time;
};

/* Makes the node of a function below `parent`, and its entry in the index. */
uint32_t collector_add_child(struct collector *w, uint32_t parent, uint64_t address, uint64_t time,
                             struct index_slot *slot);

/* Pushes a call that was entered earlier. */
void collector_reopen_call(struct collector *w, uint64_t now, const struct dwell_frame *frame, uint64_t site);

void collector_add_mark(struct collector *w, const struct decoder *d);

static inline struct profile_node *collector_top(const struct collector *w)
{
    return &w->profile->nodes[w->stack[w->depth - 1].node];
}

/* Whether an event that ends the current interval is in the selection. */
static inline bool collector_holds(const struct collector *w, uint64_t time)
{
    if (!w->ranges)
        return selection_holds(w->selection, time);
    size_t i = w->next_range;
    while (i < w->range_count && w->ranges[i].end <= time)
        i++;
    return i < w->range_count && w->ranges[i].begin <= time;
}

/* ---- waits ---- */

static inline struct wait_place collector_place(const struct collector *w, uint64_t begin, uint64_t end)
{
    return (struct wait_place){ begin, end, w->chunk->process, w->chunk->thread, w->stack[w->depth - 1].node };
}

static inline void collector_add_wait(const struct collector *w, const struct decoded_extras *extras, uint64_t begin,
                                      uint64_t end, uint64_t blocked)
{
    const struct wait_place place = collector_place(w, begin, end);
    waits_add(w->waits, &place, extras, blocked);
}

static inline void collector_note_waits(struct collector *w, const struct decoded_extras *extras)
{
    w->found_waits |= extras->blocked || extras->objects;
}

static inline void collector_answer(const struct collector *w, uint64_t begin, uint64_t end)
{
    const struct wait_place place = collector_place(w, begin, end);
    waits_answer(w->waits, &place);
}

/* ---- open calls ---- */

STACK_INLINE uint32_t collector_find_child(struct collector *w, uint32_t parent, uint64_t address, uint64_t time)
{
    struct index_slot *slot = index_find(w->children, generations_address(&w->generations, address), parent);
    if (__builtin_expect(slot->value_plus_1 != 0, 1))
        return slot->value_plus_1 - 1;
    return collector_add_child(w, parent, address, time, slot);
}

static inline void collector_push_call(struct collector *w, uint32_t node, uint64_t enter_time)
{
    if (__builtin_expect(w->depth == w->room, 0))
        GROW(w->stack, w->depth, w->room);
    w->stack[w->depth++] = (struct collector_call){ node, enter_time };
}

static inline void collector_add_duration(struct profile_node *node, uint64_t duration)
{
    if (duration < node->shortest)
        node->shortest = duration;
    if (duration > node->longest)
        node->longest = duration;
}

static inline void collector_pop_call(struct collector *w, uint64_t now)
{
    const struct collector_call *call = &w->stack[--w->depth];
    collector_add_duration(&w->profile->nodes[call->node], now - call->enter_time);
}

/* ---- actions on events: in any chunk ---- */

/* A worker in its loop over events, with the loop's counts. */
struct collector_loop {
    struct collector *w;
    uint64_t enters, exits;
};

static inline size_t collector_depth(const void *to)
{
    const struct collector_loop *l = to;
    return l->w->depth - 1;
}

static inline void collector_delay_calls(void *to, uint64_t ticks)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    for (size_t i = 1; i < w->depth; i++)
        w->stack[i].enter_time += ticks;
}

static inline void collector_drop_call(void *to, const struct decoder *d)
{
    struct collector_loop *l = to;
    (void)d;
    l->w->depth--;
}

static inline void collector_open_call(void *to, const struct decoder *d, const struct dwell_frame *frame,
                                       uint64_t site)
{
    const struct collector_loop *l = to;
    collector_reopen_call(l->w, d->time, frame, site);
}

static inline void collector_set_aside(void *to, const struct decoder *d)
{
    const struct collector_loop *l = to;
    l->w->depth = 1;
    l->w->profile->counts.switches++;
    l->w->profile->counts.intervals += collector_holds(l->w, d->time);
}

static inline void collector_pause(void *to, const struct decoder *d)
{
    const struct collector_loop *l = to;
    const bool inside = collector_holds(l->w, d->time);
    l->w->profile->counts.pauses += inside;
    l->w->profile->counts.intervals += inside;
}

static inline void collector_resume(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

static inline void collector_mark(void *to, const struct decoder *d)
{
    const struct collector_loop *l = to;
    l->w->profile->counts.intervals += collector_holds(l->w, d->time);
    collector_add_mark(l->w, d);
}

/* ---- actions on events: in a chunk that counts as a whole ---- */

static inline void collector_add_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct collector_loop *l = to;
    struct profile_node *top = collector_top(l->w);
    top->elapsed += d->time - begin;
    if (__builtin_expect(d->has_extras, 0)) {
        const struct decoded_extras extras = d->extras; /* a copy, so that the decoder has no address */
        interval_add_os(top, &extras, d->time - begin);
        interval_count_os(&l->w->profile->counts, &extras);
        collector_note_waits(l->w, &extras);
        if (__builtin_expect(l->w->waits != NULL, 0)) {
            const struct interval_parts parts = interval_parts(&extras, d->time - begin);
            collector_add_wait(l->w, &extras, begin, d->time, parts.blocked);
        }
    }
}

static inline void collector_skip_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct collector_loop *l = to;
    l->w->profile->counts.paused += d->time - begin;
    interval_count_os(&l->w->profile->counts, &d->extras);
}

/* Counts a call that the innermost call makes, and returns its node. */
STACK_INLINE uint32_t collector_begin_call(struct collector *w, uint64_t address, uint64_t now)
{
    if (__builtin_expect(now >= w->generations.next_at, 0))
        generations_find(&w->generations, now);
    const uint32_t node = collector_find_child(w, w->stack[w->depth - 1].node, address, now);
    w->profile->nodes[node].calls++;
    return node;
}

STACK_INLINE void collector_enter(void *to, const struct decoder *d)
{
    struct collector_loop *l = to;
    collector_push_call(l->w, collector_begin_call(l->w, d->function, d->time), d->time);
    l->enters++;
}

static inline void collector_exit(void *to, const struct decoder *d)
{
    struct collector_loop *l = to;
    collector_pop_call(l->w, d->time);
    l->exits++;
}

STACK_INLINE void collector_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct collector_loop *l = to;
    const uint32_t number = collector_begin_call(l->w, d->function, entered);
    struct profile_node *node = &l->w->profile->nodes[number];
    node->elapsed += d->time - entered;
    collector_add_duration(node, d->time - entered);
    l->enters++;
    l->exits++;
}

static inline void collector_left(void *to, const struct decoder *d)
{
    const struct collector_loop *l = to;
    collector_pop_call(l->w, d->time);
    l->w->profile->counts.unwound++;
}

static inline void collector_stray_exit(void *to, const struct decoder *d)
{
    const struct collector_loop *l = to;
    (void)d;
    l->w->profile->counts.stray_exits++;
}

/* ---- the same, in a chunk with samples ---- */

STACK_INLINE void collector_add_sampled_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct collector_loop *l = to;
    struct collector *w = l->w;
    collector_add_interval(to, d, begin);
    if (__builtin_expect(w->sampled.next_time < d->time, 0))
        sampled_paths_add(&w->sampled, w->profile, w->stack[w->depth - 1].node, d->time);
}

static inline void collector_skip_sampled_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct collector_loop *l = to;
    collector_skip_interval(to, d, begin);
    sampled_paths_skip(&l->w->sampled, d->time);
}

#endif
