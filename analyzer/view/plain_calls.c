/* Adds runs of plain events to the timeline of the page: one loop decodes them, follows the calls and adds the spans.
 * It does what page_timeline.c does with single events. */
#include "base/index.h"
#include "base/numbers.h"
#include "profile/generations.h"
#include "view/page_timeline.h"
#include "view/timeline_lanes.h"

struct plain_loop {
    struct view_timeline *f;
    struct view_lane *lane;
    struct timeline_plain *run;
    uint32_t number;              /* of the lane */
    uint64_t base;                /* the timeline's begin; the run is not before it */
    uint64_t generation, next_at; /* the key of the current generation, and when the next one begins */
};

/* ---- functions ---- */

static void plain_find_generation(struct plain_loop *l, uint64_t time)
{
    const struct generations *g = resolver_generation(l->f->resolver, l->lane->process, time);
    l->generation = g->key;
    l->next_at = g->next_at;
}

__attribute__((noinline)) static int32_t plain_find_rank(const struct plain_loop *l, struct view_place *place,
                                                         uint64_t key, uint64_t address, uint64_t time)
{
    struct view_timeline *f = l->f;
    const int32_t rank = view_timeline_rank(f, resolver_function(f->resolver, l->lane->process, address, time));
    *place = (struct view_place){ key, l->lane->process + 1, rank };
    return rank;
}

STACK_INLINE int32_t plain_rank(struct plain_loop *l, uint64_t address, uint64_t time)
{
    static const uint64_t spread = 0x9e3779b97f4a7c15; /* odd, with bits everywhere */
    if (__builtin_expect(time >= l->next_at, 0))
        plain_find_generation(l, time);
    const uint64_t key = address ^ l->generation;
    struct view_place *place = &l->f->places[key * spread >> (64 - VIEW_PLACE_BITS)];
    if (__builtin_expect(place->key == key && place->process_plus_1 == l->lane->process + 1, 1))
        return place->rank;
    return plain_find_rank(l, place, key, address, time);
}

/* ---- spans and intervals ---- */

STACK_INLINE void plain_add_span(const struct plain_loop *l, size_t depth, int32_t rank, uint64_t start, uint64_t end)
{
    if (depth >= l->lane->deepest)
        l->lane->deepest = (uint32_t)depth + 1;
    start = larger(start, l->base);
    if (__builtin_expect(end < start, 0))
        return;
    zooms_add(l->f->zooms, &(struct zoom_span){ .start = start - l->base,
                                                .length = end - start,
                                                .lane = l->number,
                                                .row = (uint16_t)(ROW_CALLS + depth),
                                                .function = rank,
                                                .count = 1 });
}

STACK_INLINE void plain_add_interval(const struct plain_loop *l, uint64_t begin, uint64_t end)
{
    struct view_lane *lane = l->lane;
    if (__builtin_expect(end <= begin, 0))
        return;
    if (__builtin_expect(begin - l->base != lane->calls_end, 0)) {
        view_timeline_flush_calls(l->f, lane);
        lane->calls_begin = begin - l->base;
    }
    lane->calls_end = end - l->base;
}

/* ---- actions on events ---- */

static inline size_t plain_depth(const void *to)
{
    const struct plain_loop *l = to;
    return l->run->thread->depth;
}

STACK_INLINE void plain_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct plain_loop *l = to;
    if (l->run->thread->depth)
        plain_add_interval(l, begin, d->time);
}

STACK_INLINE void plain_enter(void *to, const struct decoder *d)
{
    struct plain_loop *l = to;
    struct view_lane *lane = l->lane;
    const size_t depth = l->run->thread->depth;
    timeline_plain_open(l->run, d->function, d->time);
    if (depth >= TIMELINE_MAX_DEPTH)
        return;
    lane->depth = depth;
    GROW(lane->stack, lane->depth, lane->room);
    lane->stack[lane->depth++] = (struct view_open_call){ d->time, plain_rank(l, d->function, d->time), false };
}

STACK_INLINE void plain_exit(void *to, const struct decoder *d)
{
    const struct plain_loop *l = to;
    struct view_lane *lane = l->lane;
    if (l->run->thread->depth == lane->depth) {
        const struct view_open_call *call = &lane->stack[--lane->depth];
        plain_add_span(l, lane->depth, call->rank, call->start, d->time);
    }
    timeline_plain_close(l->run);
}

STACK_INLINE void plain_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct plain_loop *l = to;
    const size_t depth = l->run->thread->depth;
    plain_add_interval(l, entered, d->time);
    if (depth >= TIMELINE_MAX_DEPTH)
        return;
    l->lane->depth = depth;
    plain_add_span(l, depth, plain_rank(l, d->function, entered), entered, d->time);
}

static inline void plain_count_stray_exit(void *to, const struct decoder *d)
{
    const struct plain_loop *l = to;
    (void)d;
    l->run->stray_exits++;
}

static struct view_lane *plain_known_lane(struct view_timeline *f, const struct timeline_thread *thread)
{
    if (f->latest_lane && f->latest.thread == thread->thread && f->latest.process == thread->process)
        return f->latest_lane;
    const struct index_slot *slot = index_find(f->numbers, thread->thread, thread->process);
    return slot->value_plus_1 > 1 ? &f->lanes[slot->value_plus_1 - 2] : NULL;
}

/* Calls of which only those below a root are shown, and what is before the timeline or behind it, come one by one. */
void view_timeline_add_plain(void *context, struct timeline_plain *run)
{
    static const struct stack_actions actions = {
        .depth = plain_depth,
        .interval = plain_interval,
        .enter = plain_enter,
        .exit = plain_exit,
        .leaf = plain_leaf,
        .stray_exit = plain_count_stray_exit,
    };
    struct view_timeline *f = context;
    struct view_lane *lane = plain_known_lane(f, run->thread);
    if (!lane || run->state->last < f->range.begin || (f->session->selection && f->session->selection->roots))
        return;
    struct plain_loop loop = {
        .f = f, .lane = lane, .run = run, .number = (uint32_t)(lane - f->lanes), .base = f->range.begin
    };
    plain_find_generation(&loop, run->state->last);
    stack_apply_plain_until(&actions, &loop, run->state, run->decoder, smaller(run->until, f->range.end));
}
