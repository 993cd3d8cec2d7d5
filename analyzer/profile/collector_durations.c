/* Adds the events of a chunk to a profile, and keeps how long calls took. Times are in 1/256 ticks, on a clock that
 * stands still while probes run and while the thread is paused. */
#include "profile/collector_durations.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/collector_calls.h"
#include "profile/short_durations.h"

/* An open call. */
struct timed_call {
    uint64_t clock;    /* when its time in this chunk began */
    uint64_t function; /* address */
    uint64_t begin;    /* its enter time in the format, if it was found open */
    uint32_t callee;   /* what each call that it makes costs it */
    uint8_t kind;      /* TIMED_... */
};

enum {
    TIMED_FOUND = 1, /* it was not entered in this chunk */
    TIMED_RARE = 2,  /* its path is rare */
};

/* What is subtracted from the calls of a path. */
struct timed_cost {
    uint32_t call, callee;
    struct short_durations *counts; /* of its calls; NULL if they are kept one by one (rare_calls.h) */
};

struct collector_durations {
    struct timed_session *session;
    bool cost_known;          /* of the chunk's process */
    uint32_t first_callee;    /* of it: what a call of a rare path has besides, if it makes calls */
    struct timed_cost *costs; /* by node of the collector */
    uint32_t *twins;          /* by node: the same path in the sample, or PROFILE_NONE */
    size_t cost_count, cost_room, twin_room;
    struct timed_call *stack; /* by depth, with the root */
    struct rare_open *open;   /* by depth: of rare calls */
    size_t room;
    struct rare_calls rare; /* of the chunk */
    uint64_t lost;          /* by which the clock is slow */
    uint64_t delay;
    struct call_part *ended; /* calls that were open at the beginning, innermost first */
    size_t ended_count, ended_room, inherited;
    size_t *chunks; /* with parts whose paths are those of the collector */
    size_t chunk_count, chunk_room;
};

struct collector_durations *timed_calls_new(struct timed_session *s)
{
    struct collector_durations *k = need_memory(1, sizeof *k);
    k->session = s;
    return k;
}

void timed_calls_renumber(struct collector_durations *k, const uint32_t *nodes)
{
    for (size_t i = 0; i < k->chunk_count; i++) {
        const struct chunk_parts *parts = &k->session->parts[k->chunks[i]];
        for (uint32_t j = 0; j < parts->count; j++)
            parts->calls[j].path = nodes[parts->calls[j].path];
        const struct rare_calls *rare = &k->session->rare[k->chunks[i]];
        for (size_t j = 0; j < rare->count; j++)
            rare->list[j].path = nodes[rare->list[j].path];
    }
    k->chunk_count = 0;
}

void timed_calls_count(struct collector_durations *k, struct profile *p)
{
    for (size_t i = 0; i < k->cost_count; i++)
        if (k->costs[i].counts)
            short_durations_move(k->costs[i].counts, &p->nodes[i].durations);
}

void timed_calls_clear(struct collector_durations *k)
{
    for (size_t i = 0; i < k->cost_count; i++)
        free(k->costs[i].counts);
    k->cost_count = 0;
}

void timed_calls_free(struct collector_durations *k)
{
    if (!k)
        return;
    free(k->stack);
    free(k->open);
    rare_calls_free(&k->rare);
    timed_calls_clear(k);
    free(k->costs);
    free(k->twins);
    free(k->ended);
    free(k->chunks);
    free(k);
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

/* The costs of a path that has this twin in the sample. */
static struct timed_cost timed_calls_cost_of(const struct collector_durations *k, const struct probe_cost *cost,
                                             uint32_t twin)
{
    if (twin == PROFILE_NONE || k->session->rare_paths[twin])
        return (struct timed_cost){ cost->in_callee, cost->in_caller, NULL };
    const struct path_probes *probes = &k->session->probes.paths[twin];
    return (struct timed_cost){ (uint32_t)probes->call, (uint32_t)probes->callee,
                                need_memory(1, sizeof(struct short_durations)) };
}

/* Finds the costs of paths that are new. The roots of threads are among them: their parts in the sample are found by
 * the chunk's thread, as a collector makes a root in the thread's first chunk. */
__attribute__((noinline)) static void timed_calls_find_costs(const struct collector *w)
{
    struct collector_durations *k = w->durations;
    const struct profile *p = w->profile;
    const struct probe_cost *cost = timed_session_cost(k->session, w->chunk);
    for (; k->cost_count < p->node_count; k->cost_count++) {
        const size_t node = k->cost_count;
        GROW(k->costs, node, k->cost_room);
        GROW(k->twins, node, k->twin_room);
        k->costs[node] = (struct timed_cost){ 0 };
        const bool root = p->nodes[node].parent == PROFILE_NONE;
        k->twins[node] = root ? profile_find_root(k->session->sample, w->chunk->process, w->chunk->thread)
                              : timed_calls_find_twin(k, p, node);
        if (!root)
            k->costs[node] = timed_calls_cost_of(k, cost, k->twins[node]);
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
    k->open = need_more(k->open, k->room, sizeof *k->open);
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
    l->lost += l->stack[depth - 1].callee;
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
        .enter_time = call->kind & TIMED_FOUND ? call->begin : w->stack[at].enter_time,
        .end = now,
        .path = w->stack[at].node,
        .entered = !(call->kind & TIMED_FOUND),
        .own.elapsed = timed_clock(now, lost) - call->clock,
    };
}

/* Keeps the part of a call that was popped and was not entered in this chunk. Returns its number, or RARE_LOST. */
static uint32_t timed_calls_keep_part(const struct collector *w, uint64_t now, uint64_t lost, bool ended)
{
    struct collector_durations *k = w->durations;
    if (w->depth > k->inherited - k->ended_count)
        return RARE_LOST; /* it was found open after a pause */
    struct call_part part = timed_calls_part(w, w->depth, now, lost);
    part.ended = ended;
    GROW(k->ended, k->ended_count, k->ended_room);
    k->ended[k->ended_count++] = part;
    return (uint32_t)(k->inherited - k->ended_count);
}

/* ---- calls of rare paths ---- */

static struct rare_open *timed_rare_caller(struct collector_durations *k, size_t depth)
{
    return k->stack[depth - 1].kind & TIMED_RARE ? &k->open[depth - 1] : NULL;
}

/* Begins a call whose time in this chunk begins. */
static void timed_rare_begin(struct collector_durations *k, size_t depth, bool first)
{
    k->open[depth] = (struct rare_open){ .before = k->rare.count, .first = first };
}

/* Counts a callee of the call below a depth, and returns what it costs this call if it is its first one. What a call
 * that was found open has called before is unknown: it is not its first callee that comes next. */
static uint32_t timed_rare_charge(struct collector_durations *k, size_t depth)
{
    struct rare_open *caller = timed_rare_caller(k, depth);
    return caller && caller->callees++ == 0 && !(k->stack[depth - 1].kind & TIMED_FOUND) ? k->first_callee : 0;
}

__attribute__((noinline)) static uint32_t timed_rare_enter(struct collector *w, size_t depth, uint32_t node)
{
    timed_rare_begin(w->durations, depth, w->profile->nodes[node].calls == 1);
    return timed_rare_charge(w->durations, depth);
}

/* Keeps the call at a place of the stack, or its part in the chunk. */
static void timed_rare_keep(const struct collector *w, size_t at, uint64_t now, uint64_t lost, uint32_t part)
{
    struct collector_durations *k = w->durations;
    const struct timed_call *call = &k->stack[at];
    rare_calls_add(
        &k->rare, &k->open[at], timed_rare_caller(k, at), timed_clock(now, lost) - call->clock,
        (struct rare_call){ .path = w->stack[at].node, .part = part, .entered = !(call->kind & TIMED_FOUND) });
}

/* A call without callees that is not on the stack. */
__attribute__((noinline)) static uint32_t timed_rare_leaf(struct collector *w, uint32_t node, uint64_t amount)
{
    struct collector_durations *k = w->durations;
    const struct rare_open open = { .before = k->rare.count, .first = w->profile->nodes[node].calls == 1 };
    rare_calls_add(&k->rare, &open, timed_rare_caller(k, w->depth), amount,
                   (struct rare_call){ .path = node, .part = RARE_WHOLE, .entered = true });
    return timed_rare_charge(k, w->depth);
}

/* Ends a call that was popped, is found or rare, and whose exit was seen, or not. */
__attribute__((noinline)) static void timed_calls_pop_rare(const struct collector *w, uint64_t now, uint64_t lost,
                                                           bool ended)
{
    const struct timed_call *call = &w->durations->stack[w->depth];
    const uint32_t part = call->kind & TIMED_FOUND ? timed_calls_keep_part(w, now, lost, ended)
                          : ended                  ? RARE_WHOLE
                                                   : RARE_LOST;
    if (call->kind & TIMED_RARE)
        timed_rare_keep(w, w->depth, now, lost, part);
}

STACK_INLINE void timed_calls_pop(const struct timed_loop *l, uint64_t now)
{
    struct collector *w = l->base.w;
    const struct timed_call *call = &l->stack[--w->depth];
    if (l->limits)
        collector_add_duration(&w->profile->nodes[w->stack[w->depth].node], now - w->stack[w->depth].enter_time);
    if (__builtin_expect(call->kind, 0)) {
        timed_calls_pop_rare(w, now, l->lost, true);
        return;
    }
    const uint64_t amount = timed_clock(now, l->lost) - call->clock;
    const uint32_t node = w->stack[w->depth].node;
    short_durations_add_call(l->costs[node].counts, &w->profile->nodes[node].durations, call_ticks(amount), amount);
}

/* ---- actions on events ---- */

/* Returns the runtime's time in the interval, if probes are left out. */
__attribute__((noinline)) static uint64_t timed_calls_add_os(struct collector *w, const struct decoded_extras *extras,
                                                             uint64_t length)
{
    interval_add_os(collector_top(w), extras, length);
    interval_count_os(&w->profile->counts, extras);
    collector_note_waits(w, extras);
    struct collector_durations *k = w->durations;
    const struct interval_parts parts = interval_parts(extras, length);
    if (k->stack[w->depth - 1].kind & TIMED_RARE)
        k->open[w->depth - 1].off_cpu += (parts.blocked + parts.preempted) * DWELL_PROBE_FRACTION;
    return k->cost_known ? parts.runtime * DWELL_PROBE_FRACTION : 0;
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
    const uint32_t node = collector_begin_call(l->base.w, d->function, d->time);
    const struct timed_cost cost = timed_calls_cost(l, node);
    if (__builtin_expect(!cost.counts, 0))
        l->lost += timed_rare_enter(l->base.w, depth, node);
    struct timed_call *call = &l->stack[depth];
    call->clock = timed_clock(d->time, l->lost);
    call->function = d->function;
    call->callee = cost.callee;
    call->kind = cost.counts ? 0 : TIMED_RARE;
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
    const struct timed_cost cost = timed_calls_cost(l, node);
    const uint64_t amount = (d->time - entered) * DWELL_PROBE_FRACTION - cost.call;
    l->lost += cost.call;
    if (__builtin_expect(!cost.counts, 0))
        l->lost += timed_rare_leaf(w, node, amount);
    else
        short_durations_add_call(cost.counts, &w->profile->nodes[node].durations, call_ticks(amount), amount);
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
    const struct timed_call *call = &l->stack[l->base.w->depth];
    if (call->kind)
        timed_calls_pop_rare(l->base.w, d->time, l->lost, false);
}

/* Makes the entry of a call that the collector has found open. */
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
                                        .kind = TIMED_FOUND | (k->costs[w->stack[at].node].counts ? 0 : TIMED_RARE) };
    if (k->stack[at].kind & TIMED_RARE)
        timed_rare_begin(k, at, false);
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
    const struct probe_cost *cost = timed_session_cost(k->session, w->chunk);
    k->cost_known = cost != &timed_no_cost;
    k->first_callee = cost->first_callee;
    k->lost = k->delay = 0;
    k->ended_count = k->rare.count = k->rare.off_cpu_count = 0;
    k->inherited = w->depth - 1;
    if (w->depth > k->room)
        timed_calls_make_room(k, w->depth);
    timed_calls_find_costs(w);
    k->stack[0] = (struct timed_call){ .kind = TIMED_FOUND };
    for (size_t i = 1; i < w->depth; i++) {
        const struct dwell_frame frame = stack_frame(w->chunk, w->window.buffer, (uint32_t)i - 1);
        timed_calls_find_open(w, i, w->chunk->start_time, 0, &frame);
    }
}

/* Where the part of an open call is in the list of the chunk's parts. `kept` is as in struct chunk_parts. */
static size_t timed_calls_place(const struct collector_durations *k, size_t at, size_t kept)
{
    return at - 1 < kept ? at - 1 : at - 1 + k->ended_count;
}

/* Moves the chunk's rare calls to the session. If these are too many, the session's durations are lost. */
static void timed_rare_end(struct collector_durations *k, size_t index)
{
    if (!k->rare.count || __atomic_add_fetch(&k->session->rare_count, k->rare.count, __ATOMIC_RELAXED) > RARE_MOST)
        return;
    k->session->rare[index] = rare_calls_take(&k->rare);
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
        parts->calls[timed_calls_place(k, i, kept)] = timed_calls_part(w, i, w->state.last, k->lost);
    for (size_t i = w->depth; i-- > 1 && k->stack[i].kind & TIMED_RARE;) /* innermost first */
        timed_rare_keep(w, i, w->state.last, k->lost, (uint32_t)timed_calls_place(k, i, kept));
    timed_rare_end(k, index);
    GROW(k->chunks, k->chunk_count, k->chunk_room);
    k->chunks[k->chunk_count++] = index;
}
