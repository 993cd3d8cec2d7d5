/* Adds the calls and intervals of a chunk to their call paths. There are two sets of actions on events: one for chunks
 * that count as a whole, and a slower one for chunks at a limit of the selection or with call sites. */
#include "profile/collector.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/collector_calls.h"
#include "profile/collector_durations.h"
#include "profile/collector_noted.h"
#include "profile/identify.h"
#include "profile/interval_limits.h"
#include "profile/periods.h"

/* ---- the call tree ---- */

uint32_t collector_add_child(struct collector *w, uint32_t parent, uint64_t address, uint64_t time,
                             struct index_slot *slot)
{
    struct profile *p = w->profile;
    uint32_t function = identify_function(w->profile, w->process, address, time);
    GROW(p->nodes, p->node_count, p->node_room);
    uint32_t node = (uint32_t)p->node_count++;
    p->nodes[node] = (struct profile_node){ .parent = parent, .function = function, .site = PROFILE_NONE };
    amounts_clear(&p->nodes[node]);
    p->nodes[node].first = w->chunk_number;
    index_set(w->children, slot, generations_address(&w->generations, address), parent, node);
    return node;
}

/* ---- call sites ---- */

static uint32_t collector_find_called(struct collector *w, uint32_t parent, uint64_t address, uint64_t time,
                                      uint64_t site)
{
    if (!w->sites)
        return collector_find_child(w, parent, address, time);
    return call_sites_child(w->sites, parent, &(struct site_call){ address, site, time, w->generations.current });
}

static void collector_push_called(struct collector *w, uint32_t node, uint64_t address, uint64_t enter_time)
{
    collector_push_call(w, node, enter_time);
    if (w->sites)
        call_sites_push(w->sites, w->depth - 1, address);
}

/* ---- chunks ---- */

static void collector_open_frames(struct collector *w, const struct trace_chunk *chunk, const struct decoder *d)
{
    struct open_sites sites;
    decode_open_sites(&sites, d);
    w->depth = 0;
    const uint32_t root = profile_root(w->profile, chunk->process, chunk->thread);
    if (w->sites)
        call_sites_begin(w->sites, w->process, root);
    collector_push_call(w, root, chunk->start_time);
    for (uint32_t i = 0; i < chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(chunk, w->window.buffer, i);
        generations_find(&w->generations, frame.enter_time);
        const uint64_t site = decode_next_open_site(&sites);
        uint32_t node = collector_find_called(w, w->stack[w->depth - 1].node, frame.function, frame.enter_time, site);
        collector_push_called(w, node, frame.function, frame.enter_time);
    }
    generations_find(&w->generations, chunk->start_time);
}

/* ---- actions on events ---- */

void collector_reopen_call(struct collector *w, uint64_t now, const struct dwell_frame *frame, uint64_t site)
{
    generations_find(&w->generations, now);
    const uint32_t node = collector_find_called(w, w->stack[w->depth - 1].node, frame->function, now, site);
    collector_push_called(w, node, frame->function, frame->enter_time);
}

void collector_add_mark(struct collector *w, const struct decoder *d)
{
    const struct decoded_mark mark = decode_mark(d);
    struct profile *p = w->profile;
    GROW(p->marks, p->mark_count, p->mark_room);
    p->marks[p->mark_count++] = (struct profile_mark){
        .time = mark.time,
        .order = d->time,
        .process = w->chunk->process,
        .thread = w->chunk->thread,
        .number = mark.number,
        .node = w->stack[w->depth - 1].node,
        .text = need_copy(mark.text, mark.length),
    };
}

/* ---- in a chunk that counts as a whole ---- */

static void collector_events(struct collector *w, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = collector_depth,
        .interval = collector_add_interval,
        .skip = collector_skip_interval,
        .delay = collector_delay_calls,
        .enter = collector_enter,
        .exit = collector_exit,
        .leaf = collector_leaf,
        .left = collector_left,
        .ended = collector_drop_call,
        .stray_exit = collector_stray_exit,
        .set_aside = collector_set_aside,
        .open = collector_open_call,
        .pause = collector_pause,
        .resume = collector_resume,
        .mark = collector_mark,
    };
    struct profile_counts *counts = &w->profile->counts;
    struct collector_loop loop = { .w = w };
    stack_apply_all(&actions, &loop, &w->state, d);
    counts->enters += loop.enters;
    counts->exits += loop.exits;
    counts->intervals += loop.enters + loop.exits;
}

/* ---- in a chunk at a limit of the selection, or with call sites ---- */

static void collector_add_limited(struct collector *w, struct profile_node *node, const struct decoded_extras *extras,
                                  const struct interval *i)
{
    const uint64_t blocked = node->blocked;
    node->elapsed += interval_length_within(i->from, i->to, i->begin, i->end);
    if (!extras)
        return;
    interval_add_os_within(node, &w->profile->counts, extras, i);
    if (w->waits && node == collector_top(w) && i->end >= i->from && i->begin < i->to)
        collector_add_wait(w, extras, i->begin, i->end, node->blocked - blocked);
}

/* Adds the part of an interval that is between the limits, or in the ranges. `extras` may be NULL. */
static void collector_add_part(struct collector *w, struct profile_node *node, const struct decoded_extras *extras,
                               uint64_t begin, uint64_t end)
{
    if (!w->ranges) {
        collector_add_limited(w, node, extras, &(struct interval){ begin, end, w->from, w->to });
        return;
    }
    while (w->next_range < w->range_count && w->ranges[w->next_range].end <= begin)
        w->next_range++;
    for (size_t i = w->next_range; i < w->range_count && w->ranges[i].begin <= end; i++)
        collector_add_limited(w, node, extras, &(struct interval){ begin, end, w->ranges[i].begin, w->ranges[i].end });
}

/* Adds the samples of the interval before `end` to the innermost call. Nodes may move. */
static void collector_add_samples(struct collector *w, uint64_t end)
{
    const struct thread_range all = { .begin = w->from, .end = w->to };
    sampled_paths_add_within(&w->sampled, w->profile, w->stack[w->depth - 1].node, end,
                             w->ranges ? w->ranges + w->next_range : &all,
                             w->ranges ? w->range_count - w->next_range : 1);
}

static void collector_add_interval_within(void *to, const struct decoder *d, uint64_t begin)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    struct profile_node *top = collector_top(w);
    if (w->waits)
        collector_answer(w, begin, d->time);
    if (d->has_extras)
        collector_note_waits(w, &d->extras);
    collector_add_part(w, top, d->has_extras ? &d->extras : NULL, begin, d->time);
    if (w->sampled.next_time < d->time)
        collector_add_samples(w, d->time);
}

static void collector_skip_interval_within(void *to, const struct decoder *d, uint64_t begin)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    struct profile_node nobody = { 0 };
    collector_add_part(w, &nobody, &d->extras, begin, d->time);
    sampled_paths_skip(&w->sampled, d->time);
    w->profile->counts.paused += nobody.elapsed;
}

static void collector_enter_within(void *to, const struct decoder *d)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    const bool inside = collector_holds(w, d->time);
    generations_find(&w->generations, d->time);
    const uint64_t site = w->sites ? decode_site(&d->site, call_sites_address(w->sites, w->depth - 1)) : 0;
    const uint32_t node = collector_find_called(w, w->stack[w->depth - 1].node, d->function, d->time, site);
    w->profile->nodes[node].calls += inside;
    collector_push_called(w, node, d->function, d->time);
    w->profile->counts.enters += inside;
    w->profile->counts.intervals += inside;
}

/* Returns whether the exit is in the selection. */
static bool collector_pop_within(struct collector *w, uint64_t now)
{
    const bool inside = collector_holds(w, now);
    if (inside)
        collector_pop_call(w, now);
    else
        w->depth--;
    return inside;
}

static void collector_exit_within(void *to, const struct decoder *d)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    const bool inside = collector_pop_within(w, d->time);
    w->profile->counts.exits += inside;
    w->profile->counts.intervals += inside;
}

static void collector_left_within(void *to, const struct decoder *d)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    w->profile->counts.unwound += collector_pop_within(w, d->time);
}

static void collector_stray_exit_within(void *to, const struct decoder *d)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    w->profile->counts.stray_exits += collector_holds(w, d->time);
}

static void collector_events_within(struct collector *w, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = collector_depth,
        .interval = collector_add_interval_within,
        .skip = collector_skip_interval_within,
        .delay = collector_delay_calls,
        .enter = collector_enter_within,
        .exit = collector_exit_within,
        .left = collector_left_within,
        .ended = collector_drop_call,
        .stray_exit = collector_stray_exit_within,
        .set_aside = collector_set_aside,
        .open = collector_open_call,
        .pause = collector_pause,
        .resume = collector_resume,
        .mark = collector_mark,
    };
    struct collector_loop loop = { .w = w };
    enum decoded event;
    while (w->state.last < w->to && (event = decode_next(d)) != DECODED_END) {
        stack_apply(&actions, &loop, &w->state, event, d);
        d->site = (struct decoded_site){ 0, 0, false };
    }
}

/* ---- in a chunk whose events are distributed to periods ---- */

static void collector_begin_period(struct collector *w, uint64_t time)
{
    period_sums_move(w->periods, w->profile);
    period_sums_find(w->periods, time, &w->from, &w->to);
}

static inline void collector_touch_top(const struct collector *w)
{
    period_sums_touch(w->periods, w->stack[w->depth - 1].node);
}

/* Adds an interval that ends in a later period than it begins. */
static void collector_add_across(struct collector *w, const struct decoded_extras *extras, uint64_t begin, uint64_t now)
{
    for (;;) {
        collector_touch_top(w);
        collector_add_part(w, collector_top(w), extras, begin, now);
        sampled_paths_add(&w->sampled, w->profile, w->stack[w->depth - 1].node, smaller(now, w->to));
        if (now < w->to)
            return;
        collector_begin_period(w, w->to);
    }
}

static inline void collector_add_interval_in_periods(void *to, const struct decoder *d, uint64_t begin)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    if (__builtin_expect(d->time >= w->to || w->sampled.next_time < d->time, 0)) {
        collector_add_across(w, &d->extras, begin, d->time);
        return;
    }
    collector_touch_top(w);
    collector_add_interval(to, d, begin);
}

static inline void collector_skip_interval_in_periods(void *to, const struct decoder *d, uint64_t begin)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    (void)begin;
    sampled_paths_skip(&w->sampled, d->time);
    if (d->time >= w->to)
        collector_begin_period(w, d->time);
}

static inline void collector_enter_in_periods(void *to, const struct decoder *d)
{
    collector_enter(to, d);
    collector_touch_top(((const struct collector_loop *)to)->w);
}

static inline void collector_exit_in_periods(void *to, const struct decoder *d)
{
    collector_touch_top(((const struct collector_loop *)to)->w);
    collector_exit(to, d);
}

/* A call at whose end there is something to do besides. */
__attribute__((noinline)) static void collector_rare_leaf_in_periods(struct collector_loop *l, uint64_t function,
                                                                     uint64_t entered, uint64_t left)
{
    struct decoder d = { .function = function, .time = entered };
    collector_enter_in_periods(l, &d);
    d.time = left;
    collector_add_interval_in_periods(l, &d, entered);
    collector_exit_in_periods(l, &d);
}

STACK_INLINE void collector_leaf_in_periods(void *to, const struct decoder *d, uint64_t entered)
{
    struct collector_loop *l = to;
    struct collector *w = l->w;
    if (__builtin_expect(d->time >= w->to || w->sampled.next_time < d->time, 0)) {
        collector_rare_leaf_in_periods(l, d->function, entered, d->time);
        return;
    }
    const uint32_t number = collector_begin_call(w, d->function, entered);
    struct profile_node *node = &w->profile->nodes[number];
    node->elapsed += d->time - entered;
    collector_add_duration(node, d->time - entered);
    period_sums_touch(w->periods, number);
}

static inline void collector_left_in_periods(void *to, const struct decoder *d)
{
    collector_touch_top(((const struct collector_loop *)to)->w);
    collector_left(to, d);
}

static void collector_events_in_periods(struct collector *w, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = collector_depth,
        .interval = collector_add_interval_in_periods,
        .skip = collector_skip_interval_in_periods,
        .delay = collector_delay_calls,
        .enter = collector_enter_in_periods,
        .exit = collector_exit_in_periods,
        .leaf = collector_leaf_in_periods,
        .left = collector_left_in_periods,
        .ended = collector_drop_call,
        .stray_exit = collector_stray_exit,
        .set_aside = collector_set_aside,
        .open = collector_open_call,
        .pause = collector_pause,
        .resume = collector_resume,
        .mark = collector_resume, /* marks are part of no period */
    };
    struct collector_loop loop = { .w = w };
    stack_apply_all(&actions, &loop, &w->state, d);
}

/* ---- chunks ---- */

/* Adds the interval from the thread's last event to its end. */
static void collector_add_last_interval(struct collector *w, const struct trace_chunk *chunk)
{
    const struct trace_thread *t = stack_thread_end(w->file, chunk, &w->state);
    if (!t)
        return;
    const uint64_t last = w->state.last;
    const uint32_t node = w->stack[w->depth - 1].node;
    const struct decoded_extras extras = stack_end_extras(t, profile_module_path(w->profile, node), t->end_time - last);
    w->profile->counts.intervals++;
    if (w->periods) {
        collector_add_across(w, &extras, last, t->end_time);
        return;
    }
    if (w->waits)
        collector_answer(w, last, t->end_time + 1);
    collector_add_part(w, &w->profile->nodes[node], &extras, last, t->end_time);
    collector_add_samples(w, t->end_time);
}

/* The ranges of the chunk's thread. */
static void collector_find_ranges(struct collector *w, const struct trace_chunk *chunk)
{
    if (!w->selection || !w->selection->within)
        return;
    w->ranges = thread_ranges_of(w->selection->within, chunk->thread, &w->range_count);
    w->next_range = 0;
    w->to = w->range_count ? w->ranges[w->range_count - 1].end : 0;
}

bool collector_add_chunk(struct collector *w, const struct trace_chunk *chunk, bool whole)
{
    struct profile_counts *counts = &w->profile->counts;
    struct decoder d;
    counts->chunks++;
    if (!window_begin(&w->window, w->file, chunk, &d)) {
        counts->damaged_chunks++;
        return false;
    }
    w->found_waits = false;
    w->process = session_file_process(w->file, chunk->process);
    generations_begin(&w->generations, w->process);
    w->chunk = chunk;
    collector_find_ranges(w, chunk);
    if (w->waits)
        waits_begin_chunk(w->waits, chunk->thread, chunk->start_time);
    stack_begin(&w->state, chunk);
    sampled_paths_begin(&w->sampled, chunk->thread, chunk->start_time);
    collector_open_frames(w, chunk, &d);
    if (w->durations)
        timed_calls_begin(w);
    const bool noted = w->noter && call_noter_begin(w);
    if (w->periods)
        collector_begin_period(w, chunk->start_time);
    do {
        if (w->periods)
            collector_events_in_periods(w, &d);
        else if (w->durations)
            timed_calls_add(w, &d);
        else if (noted)
            call_noter_add(w, &d);
        else if (whole && !w->sites && w->sampled.next_time == UINT64_MAX)
            collector_events(w, &d);
        else
            collector_events_within(w, &d);
    } while ((w->periods || d.time < w->to) && window_more(&w->window, &d));
    if (w->durations)
        timed_calls_end(w);
    if (noted)
        call_noter_end(w);
    collector_add_last_interval(w, chunk);
    if (w->periods)
        period_sums_move(w->periods, w->profile);
    counts->damaged_chunks += d.damaged;
    return true;
}

void collector_begin(struct collector *w, const struct session_file *file, const struct session_samples *samples,
                     const struct selection *selection, bool sites)
{
    *w = (struct collector){ .file = file, .selection = selection, .to = UINT64_MAX };
    if (selection && selection->cut) {
        w->from = selection->from;
        w->to = selection->to;
    }
    w->profile = profile_new();
    w->children = index_new();
    w->sampled = (struct sampled_paths){ .samples = samples, .next_time = UINT64_MAX };
    w->sites = sites ? call_sites_new(w->profile) : NULL;
}

void collector_clear(struct collector *w)
{
    profile_clear(w->profile);
    index_clear(w->children);
    if (w->durations)
        timed_calls_clear(w->durations);
}

void collector_end(struct collector *w)
{
    index_free(w->children);
    profile_free(w->profile);
    window_free(&w->window);
    free(w->stack);
    call_sites_free(w->sites);
}
