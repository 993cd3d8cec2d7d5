/* Adds the calls and intervals of a chunk to their call paths. There are two sets of actions on events: one for chunks
 * that count as a whole, and a slower one for chunks at a limit of the selection or with call sites. */
#include "profile/collector.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/identify.h"
#include "profile/interval.h"

struct collector_call {
    uint32_t node;
    uint64_t enter_time;
};

/* ---- the call tree ---- */

/* Addresses of user space leave the highest 16 bits free. */
static inline uint64_t collector_child_key(const struct collector *w, uint64_t address)
{
    return address ^ (uint64_t)w->generations.current << 48;
}

static uint32_t collector_add_child(struct collector *w, uint32_t parent, uint64_t address, uint64_t time,
                                    struct index_slot *slot)
{
    struct profile *p = w->profile;
    uint32_t function = identify_function(w->profile, w->process, address, time);
    GROW(p->nodes, p->node_count, p->node_room);
    uint32_t node = (uint32_t)p->node_count++;
    p->nodes[node] = (struct profile_node){ .parent = parent, .function = function, .site = PROFILE_NONE };
    amounts_clear(&p->nodes[node]);
    index_set(w->children, slot, collector_child_key(w, address), parent, node);
    return node;
}

static inline uint32_t collector_find_child(struct collector *w, uint32_t parent, uint64_t address, uint64_t time)
{
    struct index_slot *slot = index_find(w->children, collector_child_key(w, address), parent);
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

static inline void collector_pop_call(struct collector *w, uint64_t now)
{
    const struct collector_call *call = &w->stack[--w->depth];
    struct profile_node *node = &w->profile->nodes[call->node];
    uint64_t duration = now - call->enter_time;
    if (duration < node->shortest)
        node->shortest = duration;
    if (duration > node->longest)
        node->longest = duration;
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

static void collector_add_os_times(struct profile_node *node, const struct decoded_extras *extras, uint64_t interval)
{
    const struct interval_parts parts = interval_parts(extras, interval);
    node->blocked += parts.blocked;
    node->preempted += parts.preempted;
    node->page_faults += extras->page_faults;
    node->runtime += parts.runtime;
    node->runtime_blocked += parts.runtime_blocked;
    node->runtime_preempted += parts.runtime_preempted;
    node->flagged += parts.flagged;
    node->runtime_flagged += parts.runtime_flagged;
}

static void collector_count_extras(struct profile_counts *counts, const struct decoded_extras *extras)
{
    counts->os_events += extras->os_events;
    counts->page_faults += extras->page_faults;
    counts->blocked += extras->blocked;
    counts->preempted += extras->preempted;
    counts->flagged_intervals += extras->flagged;
}

/* ---- a range of time ---- */

/* The length of the part of an interval that is in the selection. */
static uint64_t collector_length_within(const struct collector *w, uint64_t begin, uint64_t end)
{
    const uint64_t first = larger(begin, w->from), last = smaller(end, w->to);
    return last > first ? last - first : 0;
}

/* An interval has only the sums of its off-CPU times. They are assumed to be at its beginning: first blocked, then
 * preempted. Counts belong to the time of the event. */
static struct decoded_extras collector_extras_within(const struct collector *w, const struct decoded_extras *extras,
                                                     uint64_t last, uint64_t now)
{
    const uint64_t waited = last + smaller(extras->blocked, now - last);
    const uint64_t ran = waited + smaller(extras->preempted, now - waited);
    struct decoded_extras part = { .blocked = collector_length_within(w, last, waited),
                                   .preempted = collector_length_within(w, waited, ran) };
    if (selection_holds(w->selection, now)) {
        part.os_events = extras->os_events;
        part.page_faults = extras->page_faults;
    }
    part.runtime = /* the probe works at the end of the interval */
        collector_length_within(w, now - smaller(extras->runtime, now - last), now);
    part.flagged = extras->flagged && collector_length_within(w, last, now);
    if (part.flagged && extras->flagged_part)
        part.flagged_part = collector_length_within(w, last, last + decode_flagged(extras, now - last));
    return part;
}

static void collector_add_extras_within(struct collector *w, struct profile_node *node,
                                        const struct decoded_extras *extras, uint64_t last, uint64_t now)
{
    const struct decoded_extras part = collector_extras_within(w, extras, last, now);
    collector_add_os_times(node, &part, collector_length_within(w, last, now));
    collector_count_extras(&w->profile->counts, &part);
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

static void collector_reopen_call(struct collector *w, uint64_t now, const struct dwell_frame *frame, uint64_t site)
{
    generations_find(&w->generations, now);
    const uint32_t node = collector_find_called(w, w->stack[w->depth - 1].node, frame->function, now, site);
    collector_push_called(w, node, frame->function, frame->enter_time);
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
    l->w->profile->counts.intervals += selection_holds(l->w->selection, d->time);
}

static inline void collector_pause(void *to, const struct decoder *d)
{
    const struct collector_loop *l = to;
    const bool inside = selection_holds(l->w->selection, d->time);
    l->w->profile->counts.pauses += inside;
    l->w->profile->counts.intervals += inside;
}

static inline void collector_resume(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

static void collector_add_mark(struct collector *w, const struct decoder *d)
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

static inline void collector_mark(void *to, const struct decoder *d)
{
    const struct collector_loop *l = to;
    l->w->profile->counts.intervals += selection_holds(l->w->selection, d->time);
    collector_add_mark(l->w, d);
}

/* ---- in a chunk that counts as a whole ---- */

static inline struct profile_node *collector_top(const struct collector *w)
{
    return &w->profile->nodes[w->stack[w->depth - 1].node];
}

static inline void collector_add_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct collector_loop *l = to;
    struct profile_node *top = collector_top(l->w);
    top->elapsed += d->time - begin;
    if (__builtin_expect(d->has_extras, 0)) {
        collector_add_os_times(top, &d->extras, d->time - begin);
        collector_count_extras(&l->w->profile->counts, &d->extras);
    }
}

static inline void collector_skip_interval(void *to, const struct decoder *d, uint64_t begin)
{
    const struct collector_loop *l = to;
    l->w->profile->counts.paused += d->time - begin;
    collector_count_extras(&l->w->profile->counts, &d->extras);
}

static inline void collector_enter(void *to, const struct decoder *d)
{
    struct collector_loop *l = to;
    struct collector *w = l->w;
    if (__builtin_expect(d->time >= w->generations.next_at, 0))
        generations_find(&w->generations, d->time);
    const uint32_t node = collector_find_child(w, w->stack[w->depth - 1].node, d->function, d->time);
    w->profile->nodes[node].calls++;
    collector_push_call(w, node, d->time);
    l->enters++;
}

static inline void collector_exit(void *to, const struct decoder *d)
{
    struct collector_loop *l = to;
    collector_pop_call(l->w, d->time);
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

static void collector_events(struct collector *w, struct decoder *decoder)
{
    static const struct stack_actions actions = {
        .depth = collector_depth,
        .interval = collector_add_interval,
        .skip = collector_skip_interval,
        .delay = collector_delay_calls,
        .enter = collector_enter,
        .exit = collector_exit,
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
    struct decoder d = *decoder; /* local copies, so that the compiler keeps them in registers */
    struct stack_state state = w->state;
    struct collector_loop loop = { .w = w };
    enum decoded event;
    while ((event = decode_next(&d)) != DECODED_END)
        stack_apply(&actions, &loop, &state, event, &d);
    *decoder = d;
    w->state = state;
    counts->enters += loop.enters;
    counts->exits += loop.exits;
    counts->intervals += loop.enters + loop.exits;
}

/* ---- in a chunk at a limit of the selection, or with call sites ---- */

static void collector_add_interval_within(void *to, const struct decoder *d, uint64_t begin)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    struct profile_node *top = collector_top(w);
    top->elapsed += collector_length_within(w, begin, d->time);
    if (d->has_extras)
        collector_add_extras_within(w, top, &d->extras, begin, d->time);
}

static void collector_skip_interval_within(void *to, const struct decoder *d, uint64_t begin)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    w->profile->counts.paused += collector_length_within(w, begin, d->time);
    const struct decoded_extras part = collector_extras_within(w, &d->extras, begin, d->time);
    collector_count_extras(&w->profile->counts, &part);
}

static void collector_enter_within(void *to, const struct decoder *d)
{
    struct collector *w = ((struct collector_loop *)to)->w;
    const bool inside = selection_holds(w->selection, d->time);
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
    const bool inside = selection_holds(w->selection, now);
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
    w->profile->counts.stray_exits += selection_holds(w->selection, d->time);
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

/* ---- chunks ---- */

/* Adds the interval from the thread's last event to its end. */
static void collector_add_last_interval(struct collector *w, const struct trace_chunk *chunk)
{
    const struct trace_thread *t = stack_thread_end(w->file, chunk, &w->state);
    if (!t)
        return;
    const uint64_t last = w->state.last;
    const uint32_t node = w->stack[w->depth - 1].node;
    struct profile_node *top = &w->profile->nodes[node];
    const struct decoded_extras extras = stack_end_extras(t, profile_module_path(w->profile, node), t->end_time - last);
    top->elapsed += collector_length_within(w, last, t->end_time);
    collector_add_extras_within(w, top, &extras, last, t->end_time);
    w->profile->counts.intervals++;
}

void collector_add_chunk(struct collector *w, const struct trace_chunk *chunk, bool whole)
{
    struct profile_counts *counts = &w->profile->counts;
    struct decoder d;
    counts->chunks++;
    if (!window_begin(&w->window, w->file, chunk, &d)) {
        counts->damaged_chunks++;
        return;
    }
    w->process = session_file_process(w->file, chunk->process);
    generations_begin(&w->generations, w->process);
    w->chunk = chunk;
    stack_begin(&w->state, chunk);
    collector_open_frames(w, chunk, &d);
    do {
        if (whole && !w->sites)
            collector_events(w, &d);
        else
            collector_events_within(w, &d);
    } while (d.time < w->to && window_more(&w->window, &d));
    collector_add_last_interval(w, chunk);
    counts->damaged_chunks += d.damaged;
}

void collector_begin(struct collector *w, const struct session_file *file, const struct selection *selection,
                     bool sites)
{
    *w = (struct collector){ .file = file, .selection = selection, .to = UINT64_MAX };
    if (selection && selection->cut) {
        w->from = selection->from;
        w->to = selection->to;
    }
    w->profile = profile_new();
    w->children = index_new();
    w->sites = sites ? call_sites_new(w->profile) : NULL;
}

void collector_end(struct collector *w)
{
    index_free(w->children);
    profile_free(w->profile);
    window_free(&w->window);
    free(w->stack);
    call_sites_free(w->sites);
}
