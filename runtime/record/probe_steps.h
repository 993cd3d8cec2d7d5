/*
 * The steps of a probe, once for all modes: two functions that each file of probes (hooks.c, site_probes.c, tree.c,
 * quiet.c, filter.c) has inlined, specialised by the flags of enum probe_steps. docs/runtime.md gives the reason for
 * each step.
 *
 * The order of the steps makes a probe safe against signal handlers on its own thread that run probes themselves.
 * Before the claim, only the scratch entry above the shadow stack is written. The claim fails if any event was recorded
 * since the state was loaded. What is written after the claim is private to this event, or may be older than what a
 * handler has left.
 */
#ifndef DWELL_PROBE_STEPS_H
#define DWELL_PROBE_STEPS_H

#include "chunk.h"
#include "clock.h"
#include "extensions.h"
#include "filter.h"
#include "objects.h"
#include "probes.h"
#include "record.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "thread.h"
#include "tree_table.h"

/* Whether the probe writes records into the thread's chunk. */
#define STEPS_RECORD(steps) (((steps)&STEPS_TIMED) && !((steps)&STEPS_TREE))

/* Before an exit: the cost of hidden calls, a flag and an object. */
enum { MAX_EXIT_WORDS = MAX_COST_WORDS + 1 + MAX_OBJECT_WORDS };

/* ---- the first steps ---- */

/* The thread's state, and what belongs to it: after the claim, `base` and `chunk` may be another chunk's. */
struct steps_start {
    uint64_t state;
    char *base;
    struct dwell_chunk_header *chunk;
};

static ALWAYS_INLINE struct steps_start steps_start(const struct thread *t)
{
    struct steps_start start;
    start.state = thread_state(t);
    start.base = t->base;
    start.chunk = t->chunks.current;
    return start;
}

/* The limit of the plain probes covers the shadow stack as well. */
static ALWAYS_INLINE bool steps_enter_has_room(const unsigned steps, const struct thread *t, uint64_t state)
{
    if (steps == STEPS_TIMED)
        return (uint32_t)state <= t->wiped->limit;
    if (STEPS_RECORD(steps) && !(steps & STEPS_FILTER) && (uint32_t)state + MAX_SITE_WORDS * 2 > t->chunks.limit)
        return false;
    if (!(steps & STEPS_TIMED) && (uint32_t)state >= PAUSE_LAST_POSITION)
        return false;
    return steps == (STEPS_TIMED | STEPS_SITES) ||
           (state >> 32) + SHADOW_FREE_CALLS * sizeof(struct call) <= t->shadow_size;
}

static ALWAYS_INLINE bool steps_exit_has_room(const unsigned steps, const struct thread *t, uint64_t state)
{
    const bool flagged = steps & STEPS_FLAGGED;
    if (!STEPS_RECORD(steps) || (steps & STEPS_FILTER && !flagged))
        return true;
    const bool plain = (steps & ~(unsigned)STEPS_FLAGGED) == STEPS_TIMED;
    return (uint32_t)state + (flagged ? MAX_EXIT_WORDS * 2 : 0) <= (plain ? t->wiped->limit : t->chunks.limit);
}

/* Where filters hide calls, a record says later whether its time fits into a word. */
static ALWAYS_INLINE bool steps_time_fits(const unsigned steps, const struct thread *t, uint64_t now)
{
    if (steps & STEPS_TREE)
        return now - t->last <= INT32_MAX;
    if (steps & STEPS_FILTER)
        return now >= t->last;
    return now - t->last <= DWELL_TIME_MASK;
}

/* The time of an event, in ticks. False if the OS intervened, or the time does not fit into a usual record. */
static ALWAYS_INLINE bool steps_read_clock(const unsigned steps, const struct thread *t, uint64_t *now)
{
    *now = clock_counter();
    if (steps & STEPS_TREE)
        *now |= 1; /* see tree.c */
    if (UNLIKELY(*t->os.word != t->os.seen))
        return false;
    return LIKELY(steps_time_fits(steps, t, *now));
}

/* Where there are filters: the chunk has room for the record of a shown call, and nothing has to be written before it
 * but the cost of hidden calls. */
static ALWAYS_INLINE bool steps_record_is_usual(const struct thread *t, uint64_t state, uint64_t now)
{
    return LIKELY(now - t->last <= DWELL_TIME_MASK && !t->filter.kept.any && !t->filter.left_unrecorded &&
                  (uint32_t)state + (MAX_COST_WORDS + MAX_SITE_WORDS) * 2 <= t->chunks.limit);
}

/* The cost is taken before the claim: a handler's record must not say it again. */
static ALWAYS_INLINE bool steps_begin_cost(struct thread *t, uint64_t ticks, struct slow_record record)
{
    if (!holes_begin_slow(&t->holes, record))
        return false;
    t->filter.cost_recorded += ticks * DWELL_PROBE_FRACTION;
    return true;
}

static ALWAYS_INLINE void steps_undo_cost(struct thread *t, uint64_t ticks, uint32_t slow_count)
{
    t->filter.cost_recorded -= ticks * DWELL_PROBE_FRACTION;
    holes_end_slow(&t->holes, slow_count);
}

/* ---- the shadow stack ---- */

/* Word by word: a copy of the whole would read 16 bytes at once, and wait for the stores of their halves. */
static ALWAYS_INLINE void steps_write_entry(const unsigned steps, struct call *call, const struct call *entry)
{
    if (!(steps & STEPS_TIMED))
        *call = (struct call){ .stack_pointer = 0 };
    call->function = entry->function;
    call->stack_pointer = entry->stack_pointer;
    if (steps & STEPS_TIMED)
        call->enter_time = entry->enter_time;
    call->frame_id = entry->frame_id;
    if (steps & STEPS_SITES)
        call->call_site = entry->call_site;
    if (steps & STEPS_TREE)
        call->node = entry->node;
    if (STEPS_RECORD(steps) && steps & STEPS_FILTER)
        call->filter = entry->filter;
}

/* The state in the middle of a tree: its low half is the time of the last event. */
static ALWAYS_INLINE uint64_t steps_with_time(uint64_t depth, uint64_t now)
{
    return depth >> 32 << 32 | (uint32_t)now;
}

/* ---- enter ---- */

/* The steps that follow where there is room. `origin` is used if call sites are recorded. False if it is another event
 * than the usual, or a handler has recorded events meanwhile: nothing was done then. */
static ALWAYS_INLINE bool steps_enter(const unsigned steps, struct thread *t, struct steps_start start,
                                      uint64_t function, uint64_t stack_pointer, uint64_t frame_id,
                                      struct origin origin)
{
    const uint64_t state = start.state;
    if (UNLIKELY(stack_pointer - t->stack.low >= t->stack.span))
        return false;
    uint64_t now = 0;
    if (steps & STEPS_TIMED && UNLIKELY(!steps_read_clock(steps, t, &now)))
        return false;

    enum call_kind kind = CALL_SHOWN;
    if (STEPS_RECORD(steps) && steps & STEPS_FILTER) {
        const struct call *caller = thread_call(t, state) - 1;
        const uint32_t action = filter_action(function);
        if (UNLIKELY(action & ~(uint32_t)FILTER_FAST))
            return false;
        kind = filter_kind(caller, action);
        if (UNLIKELY(kind == CALL_SHOWN && filter_settings.waits_partly))
            return false; /* callers may wait */
        if (kind == CALL_SHOWN && !steps_record_is_usual(t, state, now))
            return false;
    }
    if (!(steps & STEPS_TIMED) && steps & STEPS_FILTER && UNLIKELY(filter_starts(function)))
        return false;
    const uint32_t upper = (uint32_t)(function >> 32);
    const unsigned half = upper != t->upper[0];
    if (STEPS_RECORD(steps) && kind == CALL_SHOWN && UNLIKELY(upper != t->upper[half]))
        return false;
    struct call *const call = thread_call(t, state);
    if (UNLIKELY(call_was_left(&call[-1], stack_pointer, frame_id)))
        return false;

    struct call entry = { function, stack_pointer, now, frame_id, 0, { NULL } };
    uint16_t words[MAX_COST_WORDS + MAX_SITE_WORDS];
    int count = 0;
    uint64_t cost = 0; /* ticks */
    if (STEPS_RECORD(steps) && steps & STEPS_FILTER) {
        entry.filter = filter_of_call(&call[-1], 0, kind, filter_cost_mark(&t->filter));
        cost = kind == CALL_SHOWN ? filter_cost_ticks(&t->filter) : 0;
        if (cost)
            count = cost_words(words, cost);
    }
    if (steps & STEPS_SITES)
        entry.call_site = call_site_of(&call[-1], function, stack_pointer, origin);
    if (steps & STEPS_SITES && STEPS_RECORD(steps) && kind == CALL_SHOWN)
        count += sites_words(words + count, entry.call_site,
                             !(steps & STEPS_FILTER) || call[-1].kind == CALL_SHOWN ? &call[-1] : NULL);
    struct dwell_tree_node *const parent = steps & STEPS_TREE ? call[-1].node : NULL;
    if (steps & STEPS_TREE) {
        if (steps & STEPS_FILTER && tree_hides(parent, function))
            entry.node = parent;
        else
            entry.node = tree_find_node(t->tree.table, steps & STEPS_SITES ? parent->base : parent->number, function,
                                        entry.call_site, steps & STEPS_SITES);
        if (UNLIKELY(!entry.node))
            return false;
    }
    const uint32_t bytes = (uint32_t)count * 2;
    uint64_t wanted = state + one_call;
    if (steps & STEPS_TREE)
        wanted = steps_with_time(wanted, now);
    else if (!(steps & STEPS_TIMED))
        wanted += 1;
    else if (kind == CALL_SHOWN)
        wanted += bytes + ENTER_BYTES;
    steps_write_entry(steps, call, &entry);
    const uint32_t slow_count = cost ? t->holes.slow_count : 0;
    if (cost &&
        !steps_begin_cost(t, cost, (struct slow_record){ start.base, (uint32_t)state, bytes + ENTER_BYTES, true }))
        return false;
    if (UNLIKELY(!thread_claim(t, state, wanted))) {
        if (cost)
            steps_undo_cost(t, cost, slow_count);
        return false;
    }

    if (steps & STEPS_TREE)
        tree_count_enter(t, state, now, parent, entry.node);
    if (steps & STEPS_TREE && steps & STEPS_FILTER && entry.node == parent)
        sum_add(&parent->runtime, filter_settings.hidden_cost / DWELL_PROBE_FRACTION);
    if (!STEPS_RECORD(steps))
        return true;
    if (steps & STEPS_FILTER) {
        /* A handler's probes may have used the entry before the claim, and left no trace of it in the state, as hidden
         * calls take no room. */
        steps_write_entry(steps, call, &entry);
        t->filter.last_seen = now;
        if (kind == CALL_HIDDEN)
            sum_add(&t->filter.cost, filter_settings.hidden_cost);
        if (kind != CALL_SHOWN)
            return true;
    }
    char *const at = start.base + (uint32_t)state;
    if (count) {
        sites_count_bytes(start.chunk, bytes);
        store_words(at, words, count);
    }
    store_enter(at + bytes, half, now, function);
    if (cost)
        holes_end_slow(&t->holes, slow_count);
    t->last = now;
    return true;
}

/* ---- exit ---- */

/* The exit of a call that the file does not know of. */
static ALWAYS_INLINE bool steps_exit_unrecorded(const unsigned steps, struct thread *t, uint64_t state,
                                                const struct call *call, uint64_t now)
{
    const bool hidden = call->kind == CALL_HIDDEN;
    if (steps & STEPS_FLAGGED ||
        (!hidden && UNLIKELY(now - call->enter_time >= filter_settings.shortest[call->time])) ||
        UNLIKELY(t->filter.waiting_count))
        return false;
    if (UNLIKELY(!thread_claim(t, state, state - one_call)))
        return false;
    t->filter.last_seen = now;
    if (!hidden)
        sum_add(&t->filter.cost, filter_settings.short_cost);
    return true;
}

/* As steps_enter. `object` is that of a call of the OS, or NULL. */
static ALWAYS_INLINE bool steps_exit(const unsigned steps, struct thread *t, struct steps_start start,
                                     uint64_t function, uint64_t stack_pointer, bool tail_call,
                                     const struct object *object)
{
    const uint64_t state = start.state;
    if (UNLIKELY(stack_pointer - t->stack.low >= t->stack.span))
        return false;
    uint64_t now = 0;
    if (steps & STEPS_TIMED && UNLIKELY(!steps_read_clock(steps, t, &now)))
        return false;
    const struct call *const call = thread_call(t, state) - 1;
    if (UNLIKELY(!call_exits(call, function, stack_pointer, tail_call)))
        return false;
    const bool filtered = STEPS_RECORD(steps) && steps & STEPS_FILTER;
    if (filtered && call->kind != CALL_SHOWN)
        return steps_exit_unrecorded(steps, t, state, call, now);
    if (filtered && !steps_record_is_usual(t, state, now))
        return false;
    if (filtered && steps & STEPS_FLAGGED && t->filter.last_seen > t->last)
        return false; /* a part of the interval is not flagged */

    uint16_t words[MAX_EXIT_WORDS];
    int count = 0;
    const uint64_t cost = filtered ? filter_cost_ticks(&t->filter) : 0; /* ticks */
    if (cost)
        count = cost_words(words, cost);
    if (STEPS_RECORD(steps) && steps & STEPS_FLAGGED) {
        struct extensions e = { words, count };
        extensions_put_head(&e, DWELL_EXT_OS, 0);
        if (object)
            object_put(&e, object);
        count = e.length;
    }
    const uint32_t bytes = (uint32_t)count * 2;
    uint64_t wanted = state - one_call;
    if (!(steps & STEPS_TIMED)) {
        if (steps & STEPS_FILTER && UNLIKELY(wanted >> 32 <= t->filter.ignored_depth))
            return false; /* the end of a call that a filter ignores */
        pause_keep_below(t, wanted);
        wanted += 1;
    } else if (steps & STEPS_TREE) {
        wanted = steps_with_time(wanted, now);
    } else {
        wanted += bytes + EXIT_BYTES;
    }
    struct dwell_tree_node *const node = steps & STEPS_TREE ? call->node : NULL;
    struct dwell_tree_node *const parent = steps & STEPS_TREE ? call[-1].node : NULL;
    const uint64_t duration = steps & STEPS_TREE ? now - call->enter_time : 0;
    const uint32_t slow_count = count ? t->holes.slow_count : 0;
    if (count &&
        !steps_begin_cost(t, cost, (struct slow_record){ start.base, (uint32_t)state, bytes + EXIT_BYTES, false }))
        return false;
    if (UNLIKELY(!thread_claim(t, state, wanted))) {
        if (count)
            steps_undo_cost(t, cost, slow_count);
        return false;
    }

    if (steps & STEPS_TREE)
        tree_count_exit(t, state, now, node, parent, duration, steps & STEPS_FLAGGED);
    if (!STEPS_RECORD(steps))
        return true;
    char *const at = start.base + (uint32_t)state;
    if (count) {
        sites_count_bytes(start.chunk, bytes);
        store_words(at, words, count);
    }
    store_word(at + bytes, timed_word(DWELL_WORD_EXIT, now));
    if (count)
        holes_end_slow(&t->holes, slow_count);
    if (steps & STEPS_FLAGGED && LIKELY(t->base == start.base))
        holes_note_zeros(&t->holes, (uint32_t)state, words, count);
    t->last = now;
    return true;
}

/* ---- the probes of one line of PROBES ---- */

#define PROBES_EXIT_FLAGGED_DEFINITION(name, steps)                                                                    \
    bool name##_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer, const struct object *object) \
    {                                                                                                                  \
        const struct steps_start start = steps_start(t);                                                               \
        return steps_exit_has_room((steps) | STEPS_FLAGGED, t, start.state) &&                                         \
               steps_exit((steps) | STEPS_FLAGGED, t, start, function, stack_pointer, false, object);                  \
    }

#define PROBES_DEFINITION(name, steps)                                                                                 \
    void name##_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,              \
                      uint64_t probe_return)                                                                           \
    {                                                                                                                  \
        const struct steps_start start = steps_start(t);                                                               \
        const struct origin origin = { frame_return, probe_return };                                                   \
        const uint64_t frame_id = frame_id_of(frame_return, probe_return);                                             \
        if (LIKELY(steps_enter_has_room(steps, t, start.state) &&                                                      \
                   steps_enter(steps, t, start, function, stack_pointer, frame_id, origin)))                           \
            return;                                                                                                    \
        if ((steps)&STEPS_SITES)                                                                                       \
            slow_enter_from(function, stack_pointer, frame_return, probe_return);                                      \
        else                                                                                                           \
            slow_enter(function, stack_pointer, frame_id);                                                             \
    }                                                                                                                  \
    void name##_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call)                      \
    {                                                                                                                  \
        const struct steps_start start = steps_start(t);                                                               \
        if (UNLIKELY(!steps_exit_has_room(steps, t, start.state) ||                                                    \
                     !steps_exit(steps, t, start, function, stack_pointer, tail_call, NULL)))                          \
            slow_exit(function, stack_pointer, tail_call);                                                             \
    }                                                                                                                  \
    PROBES_EXIT_FLAGGED_DEFINITION(name, steps)

#endif
