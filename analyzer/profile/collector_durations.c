/* Adds the events of a chunk to a profile, and keeps how long calls took. Times are in 1/256 ticks, on a clock that
 * stands still while probes run and while the thread is paused. */
#include "profile/collector_durations.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/collect.h"
#include "profile/collector_calls.h"
#include "profile/durations.h"
#include "trace/chunk_order.h"

/* An open call. */
struct timed_call {
    uint64_t clock;    /* when its time in this chunk began */
    uint64_t function; /* address */
    uint64_t begin;    /* its enter time in the format, if it was found open */
    uint32_t callee;   /* what each call that it makes costs it */
    uint32_t first;    /* what its first call costs it besides */
    bool found;        /* it was not entered in this chunk */
};

/* What is subtracted from the calls of a path. */
struct timed_cost {
    uint32_t call, callee, first;
};

struct collector_durations {
    const struct timed_session *session;
    bool cost_known;          /* of the chunk's process */
    struct timed_cost *costs; /* by node of the collector */
    uint32_t *twins;          /* by node: the same path in the sample, or PROFILE_NONE */
    size_t cost_count, cost_room, twin_room;
    struct timed_call *stack; /* by depth, with the root */
    size_t room;
    uint64_t lost; /* by which the clock is slow */
    uint64_t delay;
    struct call_part *ended; /* calls that were open at the beginning, innermost first */
    size_t ended_count, ended_room, inherited;
    size_t *chunks; /* with parts whose paths are those of the collector */
    size_t chunk_count, chunk_room;
};

/* ---- the session ---- */

/* Some chunks tell which calls of a path make calls, so that the cost of first callees is spread as views of single
 * calls spread it. */
static void timed_session_take_sample(struct timed_session *s, const struct probe_cost *costs, size_t count,
                                      unsigned jobs)
{
    enum { LEAST = 16, PART = 32 };
    const size_t step = larger(s->file->chunk_count / larger(LEAST, s->file->chunk_count / PART), 1);
    struct trace_chunk *chunks = need_memory(s->file->chunk_count + 1, sizeof *chunks);
    size_t taken = 0;
    for (size_t i = 0; i < s->file->chunk_count; i += step)
        chunks[taken++] = s->file->chunks[i];
    s->sample = collect_chunks(s->file, chunks, taken, jobs);
    s->probes = path_probes_of(s->sample, s->file, costs, count, true);
    free(chunks);
}

struct timed_session timed_session_begin(const struct session_file *file, const struct probe_cost *costs, size_t count,
                                         unsigned jobs)
{
    struct timed_session s = { .file = file };
    struct number_index *places = overhead_index_costs(costs, count);
    s.costs = need_memory(file->process_count + 1, sizeof *s.costs);
    s.parts = need_memory(file->chunk_count + 1, sizeof *s.parts);
    for (size_t i = 0; i < file->process_count; i++) {
        const struct index_slot *slot = index_find(places, file->processes[i].serial, 0);
        s.costs[i] = slot->value_plus_1 ? &costs[slot->value_plus_1 - 1] : NULL;
    }
    index_free(places);
    if (count)
        timed_session_take_sample(&s, costs, count, jobs);
    return s;
}

static bool timed_session_take(void *context, const struct trace_chunk *chunk, const struct call_part *call,
                               const struct call_part *caller)
{
    struct profile *p = context;
    (void)chunk;
    (void)caller;
    durations_add(&p->nodes[call->path].durations, call_ticks(call->own.elapsed), 1, call->own.elapsed);
    return true;
}

void timed_session_end(struct timed_session *s, struct profile *p)
{
    uint32_t *order = chunk_order_by_thread(s->file);
    call_parts_join(s->file, s->parts, order, timed_session_take, p);
    for (size_t i = 0; i < s->file->chunk_count; i++)
        free(s->parts[i].calls);
    free(order);
    free(s->costs);
    free(s->probes.paths);
    if (s->sample)
        profile_free(s->sample);
    free(s->parts);
}

struct collector_durations *timed_calls_new(const struct timed_session *s)
{
    struct collector_durations *k = need_memory(1, sizeof *k);
    k->session = s;
    return k;
}

void timed_calls_free(struct collector_durations *k)
{
    if (!k)
        return;
    free(k->stack);
    free(k->costs);
    free(k->twins);
    free(k->ended);
    free(k->chunks);
    free(k);
}

void timed_calls_renumber(struct collector_durations *k, const uint32_t *nodes)
{
    for (size_t i = 0; i < k->chunk_count; i++) {
        const struct chunk_parts *parts = &k->session->parts[k->chunks[i]];
        for (uint32_t j = 0; j < parts->count; j++)
            parts->calls[j].path = nodes[parts->calls[j].path];
    }
    k->chunk_count = 0;
}

void timed_calls_clear(struct collector_durations *k)
{
    k->cost_count = 0;
}

/* ---- costs ---- */

static uint32_t timed_calls_find_twin(const struct collector_durations *k, const struct profile *p, size_t node)
{
    const struct profile *sample = k->session->sample;
    const struct profile_node *n = &p->nodes[node];
    if (n->parent == PROFILE_NONE || k->twins[n->parent] == PROFILE_NONE || n->site == PROFILE_SAMPLED)
        return PROFILE_NONE;
    const uint32_t function = profile_find_same_function(sample, p, n->function);
    return function == PROFILE_NONE ? PROFILE_NONE : profile_find_child(sample, k->twins[n->parent], function);
}

/* Finds the costs of paths that are new. The roots of threads are among them: their parts in the sample are found by
 * the chunk's thread, as a collector makes a root in the thread's first chunk. */
__attribute__((noinline)) static void timed_calls_find_costs(const struct collector *w)
{
    struct collector_durations *k = w->durations;
    const struct profile *p = w->profile;
    const struct probe_cost *cost = w->process ? k->session->costs[w->process - k->session->file->processes] : NULL;
    for (; k->cost_count < p->node_count; k->cost_count++) {
        const size_t node = k->cost_count;
        GROW(k->costs, node, k->cost_room);
        GROW(k->twins, node, k->twin_room);
        k->costs[node] = (struct timed_cost){ 0, 0, 0 };
        k->twins[node] = PROFILE_NONE;
        if (!cost || !k->session->sample)
            continue;
        const bool root = p->nodes[node].parent == PROFILE_NONE;
        const uint32_t twin = root ? profile_find_root(k->session->sample, w->chunk->process, w->chunk->thread)
                                   : timed_calls_find_twin(k, p, node);
        k->twins[node] = twin;
        if (twin != PROFILE_NONE && !root)
            k->costs[node] = (struct timed_cost){ (uint32_t)k->session->probes.paths[twin].call,
                                                  (uint32_t)k->session->probes.paths[twin].callee, 0 };
        else if (!root)
            k->costs[node] = (struct timed_cost){ cost->in_callee, cost->in_caller, cost->first_callee };
    }
}

/* ---- calls ---- */

/* The loop over the events of a chunk. Actions of other loops take it for their own. */
struct timed_loop {
    struct collector_loop base;
    struct collector_durations *k;
    struct timed_call *stack; /* those of k */
    size_t room;
    const struct timed_cost *costs; /* those of k */
    size_t cost_count;
    uint64_t lost;
    bool limits; /* the shortest and the longest calls are wanted with their probes: no costs are known */
};

static inline uint64_t timed_clock(uint64_t time, uint64_t lost)
{
    return time * DWELL_PROBE_FRACTION - lost;
}

static void timed_calls_make_room(struct collector_durations *k, size_t depth)
{
    k->room = larger(2 * depth, 64);
    k->stack = need_more(k->stack, k->room, sizeof *k->stack);
}

static inline void timed_loop_load(struct timed_loop *l)
{
    l->stack = l->k->stack;
    l->room = l->k->room;
    l->costs = l->k->costs;
    l->cost_count = l->k->cost_count;
}

/* What a call costs the one that makes it, which is on top of the stack. */
static inline void timed_calls_charge(struct timed_loop *l, size_t depth)
{
    struct timed_call *caller = &l->stack[depth - 1];
    l->lost += caller->callee + caller->first;
    caller->first = 0;
}

/* The costs of a path. */
static inline struct timed_cost timed_calls_cost(struct timed_loop *l, uint32_t node)
{
    if (__builtin_expect(node >= l->cost_count, 0)) {
        timed_calls_find_costs(l->base.w);
        timed_loop_load(l);
    }
    return l->costs[node];
}

static struct call_part timed_calls_part(const struct collector *w, size_t at, uint64_t now, uint64_t lost)
{
    const struct timed_call *call = &w->durations->stack[at];
    return (struct call_part){
        .function = call->function,
        .enter_time = call->found ? call->begin : w->stack[at].enter_time,
        .end = now,
        .path = w->stack[at].node,
        .entered = !call->found,
        .own.elapsed = timed_clock(now, lost) - call->clock,
    };
}

/* Keeps the part of a call that was popped and was not entered in this chunk. */
__attribute__((noinline)) static void timed_calls_keep_part(const struct collector *w, uint64_t now, uint64_t lost,
                                                            bool ended)
{
    struct collector_durations *k = w->durations;
    if (w->depth > k->inherited - k->ended_count)
        return; /* it was found open after a pause */
    struct call_part part = timed_calls_part(w, w->depth, now, lost);
    part.ended = ended;
    GROW(k->ended, k->ended_count, k->ended_room);
    k->ended[k->ended_count++] = part;
}

STACK_INLINE void timed_calls_pop(const struct timed_loop *l, uint64_t now)
{
    struct collector *w = l->base.w;
    const struct timed_call *call = &l->stack[--w->depth];
    if (l->limits)
        collector_add_duration(&w->profile->nodes[w->stack[w->depth].node], now - w->stack[w->depth].enter_time);
    if (__builtin_expect(call->found, 0)) {
        timed_calls_keep_part(w, now, l->lost, true);
        return;
    }
    const uint64_t amount = timed_clock(now, l->lost) - call->clock;
    durations_add_call(&w->profile->nodes[w->stack[w->depth].node].durations, call_ticks(amount), amount);
}

/* ---- actions on events ---- */

/* Returns the runtime's time in the interval, if probes are left out. */
__attribute__((noinline)) static uint64_t timed_calls_add_os(struct collector *w, const struct decoded_extras *extras,
                                                             uint64_t length)
{
    interval_add_os(collector_top(w), extras, length);
    interval_count_os(&w->profile->counts, extras);
    collector_note_waits(w, extras);
    return w->durations->cost_known ? interval_parts(extras, length).runtime * DWELL_PROBE_FRACTION : 0;
}

STACK_INLINE void timed_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct timed_loop *l = to;
    struct collector *w = l->base.w;
    collector_top(w)->elapsed += d->time - begin;
    if (__builtin_expect(d->has_extras, 0)) {
        const struct decoded_extras extras = d->extras; /* a copy, so that the decoder has no address */
        l->lost += timed_calls_add_os(w, &extras, d->time - begin);
    }
    if (__builtin_expect(w->sampled.next_time < d->time, 0))
        sampled_paths_add(&w->sampled, w->profile, w->stack[w->depth - 1].node, d->time);
}

static inline void timed_skip(void *to, const struct decoder *d, uint64_t begin)
{
    struct timed_loop *l = to;
    collector_skip_interval(to, d, begin);
    sampled_paths_skip(&l->base.w->sampled, d->time);
    l->lost += (d->time - begin) * DWELL_PROBE_FRACTION;
}

static inline void timed_delay(void *to, uint64_t ticks)
{
    const struct timed_loop *l = to;
    collector_delay_calls(to, ticks);
    l->k->delay += ticks;
}

STACK_INLINE void timed_enter(void *to, const struct decoder *d)
{
    struct timed_loop *l = to;
    const size_t depth = l->base.w->depth;
    if (__builtin_expect(depth >= l->room, 0)) {
        timed_calls_make_room(l->k, depth);
        timed_loop_load(l);
    }
    timed_calls_charge(l, depth);
    struct timed_call *call = &l->stack[depth];
    call->clock = timed_clock(d->time, l->lost);
    call->function = d->function;
    call->found = false;
    const uint32_t node = collector_begin_call(l->base.w, d->function, d->time);
    const struct timed_cost cost = timed_calls_cost(l, node);
    call->callee = cost.callee;
    call->first = cost.first;
    l->lost += cost.call;
    collector_push_call(l->base.w, node, d->time);
    l->base.enters++;
}

STACK_INLINE void timed_exit(void *to, const struct decoder *d)
{
    struct timed_loop *l = to;
    timed_calls_pop(l, d->time);
    l->base.exits++;
}

STACK_INLINE void timed_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct timed_loop *l = to;
    struct collector *w = l->base.w;
    timed_calls_charge(l, w->depth);
    const uint32_t node = collector_begin_call(w, d->function, entered);
    w->profile->nodes[node].elapsed += d->time - entered;
    if (l->limits)
        collector_add_duration(&w->profile->nodes[node], d->time - entered);
    l->base.enters++;
    l->base.exits++;
    const uint64_t cost = timed_calls_cost(l, node).call, amount = (d->time - entered) * DWELL_PROBE_FRACTION - cost;
    l->lost += cost;
    durations_add_call(&w->profile->nodes[node].durations, call_ticks(amount), amount);
}

static inline void timed_left(void *to, const struct decoder *d)
{
    const struct timed_loop *l = to;
    timed_calls_pop(l, d->time);
    l->base.w->profile->counts.unwound++;
}

static inline void timed_ended(void *to, const struct decoder *d)
{
    const struct timed_loop *l = to;
    collector_drop_call(to, d);
    if (l->stack[l->base.w->depth].found)
        timed_calls_keep_part(l->base.w, d->time, l->lost, false);
}

/* Makes the entry of a call that the collector has found open. What it called before is unknown: it is not its first
 * callee that comes next. */
static void timed_calls_find_open(const struct collector *w, size_t at, uint64_t now, uint64_t lost,
                                  const struct dwell_frame *frame)
{
    struct collector_durations *k = w->durations;
    if (at >= k->room)
        timed_calls_make_room(k, at);
    timed_calls_find_costs(w);
    k->stack[at] = (struct timed_call){ .clock = timed_clock(now, lost),
                                        .function = frame->function,
                                        .begin = frame->enter_time,
                                        .callee = k->costs[w->stack[at].node].callee,
                                        .found = true };
}

static inline void timed_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    struct timed_loop *l = to;
    collector_open_call(to, d, frame, site);
    timed_calls_find_open(l->base.w, l->base.w->depth - 1, d->time, l->lost, frame);
    timed_loop_load(l);
}

void timed_calls_add(struct collector *w, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = collector_depth,
        .interval = timed_interval,
        .skip = timed_skip,
        .delay = timed_delay,
        .enter = timed_enter,
        .exit = timed_exit,
        .leaf = timed_leaf,
        .left = timed_left,
        .ended = timed_ended,
        .stray_exit = collector_stray_exit,
        .set_aside = collector_set_aside,
        .open = timed_open,
        .pause = collector_pause,
        .resume = collector_resume,
        .mark = collector_mark,
    };
    struct profile_counts *counts = &w->profile->counts;
    struct collector_durations *k = w->durations;
    struct timed_loop loop = { .base.w = w, .k = k, .lost = k->lost, .limits = !k->cost_known };
    timed_loop_load(&loop);
    stack_apply_all(&actions, &loop, &w->state, d);
    counts->enters += loop.base.enters;
    counts->exits += loop.base.exits;
    counts->intervals += loop.base.enters + loop.base.exits;
    k->lost = loop.lost;
}

/* ---- chunks ---- */

void timed_calls_begin(struct collector *w)
{
    struct collector_durations *k = w->durations;
    k->cost_known = w->process && k->session->costs[w->process - k->session->file->processes];
    k->lost = k->delay = 0;
    k->ended_count = 0;
    k->inherited = w->depth - 1;
    if (w->depth > k->room)
        timed_calls_make_room(k, w->depth);
    timed_calls_find_costs(w);
    k->stack[0] = (struct timed_call){ .found = true };
    for (size_t i = 1; i < w->depth; i++) {
        const struct dwell_frame frame = stack_frame(w->chunk, w->window.buffer, (uint32_t)i - 1);
        timed_calls_find_open(w, i, w->chunk->start_time, 0, &frame);
    }
}

/* Those that were open at the beginning, and then those that began in the chunk and are open. A chunk in which the
 * stack changed has none. */
void timed_calls_end(struct collector *w)
{
    struct collector_durations *k = w->durations;
    const size_t index = (size_t)(w->chunk - k->session->file->chunks);
    struct chunk_parts *parts = &k->session->parts[index];
    const size_t kept = k->inherited - k->ended_count;
    if (w->depth - 1 < kept)
        return;
    *parts = (struct chunk_parts){
        .inherited = (uint32_t)k->inherited,
        .kept = (uint32_t)kept,
        .count = (uint32_t)(k->inherited + w->depth - 1 - kept),
        .delay = k->delay,
        .last = w->state.last,
        .paused = w->state.paused,
        .read = true,
    };
    parts->calls = need_memory(parts->count + 1, sizeof *parts->calls);
    for (size_t i = 0; i < k->ended_count; i++)
        parts->calls[k->inherited - 1 - i] = k->ended[i];
    for (size_t i = 1; i < w->depth; i++)
        parts->calls[i - 1 < kept ? i - 1 : i - 1 + k->ended_count] = timed_calls_part(w, i, w->state.last, k->lost);
    GROW(k->chunks, k->chunk_count, k->chunk_room);
    k->chunks[k->chunk_count++] = index;
}
