/* Adds the events of a chunk to a profile, and notes its calls. The chunk counts as a whole, and can have samples. */
#include "profile/collector_noted.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/collector_calls.h"

enum {
    BLOCK_WORDS = 1 << 18,
    SPARE_WORDS = 64, /* for the rest of a chunk that gets no notes */
};

struct call_noter {
    struct noted_calls *calls;
    uint32_t *begin, *at, *end;     /* the notes of the chunk; no note begins at `end` or after it */
    uint32_t *chunk_at, *chunk_end; /* as they were when the chunk began */
    uint64_t last;                  /* time of the last note */
    size_t level;                   /* as in noted_calls.h */
    size_t inherited;               /* calls that were open at the beginning, and are */
    uint64_t *functions;            /* addresses, by depth */
    size_t function_room;
    struct noted_open *first; /* calls that were open at the beginning */
    size_t first_count, first_room;
    bool bad;  /* the chunk gets no notes */
    bool full; /* no later chunk gets notes */
    uint32_t **blocks;
    size_t block_count, block_room;
    size_t *chunks; /* with notes whose paths are those of the collector */
    size_t chunk_count, chunk_room;
    uint32_t spare[SPARE_WORDS];
};

struct call_noter *call_noter_new(struct noted_calls *calls)
{
    struct call_noter *n = need_memory(1, sizeof *n);
    n->calls = calls;
    return n;
}

void call_noter_free(struct call_noter *n)
{
    if (!n)
        return;
    struct noted_calls *calls = n->calls;
    for (size_t i = 0; i < n->block_count; i++) {
        GROW(calls->blocks, calls->block_count, calls->block_room);
        calls->blocks[calls->block_count++] = n->blocks[i];
    }
    free(n->blocks);
    free(n->functions);
    free(n->first);
    free(n->chunks);
    free(n);
}

void call_noter_number(struct call_noter *n, uint32_t *paths, size_t count)
{
    struct noted_calls *calls = n->calls;
    GROW(calls->paths, calls->paths_count, calls->paths_room);
    GROW(calls->path_counts, calls->paths_count, calls->counts_room);
    calls->paths[calls->paths_count] = paths;
    calls->path_counts[calls->paths_count++] = count;
    for (size_t i = 0; i < n->chunk_count; i++)
        calls->chunks[n->chunks[i]].paths = (uint32_t)calls->paths_count;
    n->chunk_count = 0;
}

/* ---- memory ---- */

static bool call_noter_take_bytes(struct call_noter *n, size_t bytes)
{
    if (__atomic_add_fetch(&n->calls->bytes, bytes, __ATOMIC_RELAXED) <= n->calls->most)
        return true;
    n->full = n->bad = true;
    return false;
}

/* Goes on in another block, to which it moves the chunk's notes. Without one, later notes are of no use. */
__attribute__((noinline)) static void call_noter_make_room(struct call_noter *n)
{
    const size_t count = n->bad ? 0 : (size_t)(n->at - n->begin), words = larger(BLOCK_WORDS, 2 * count);
    if (n->bad || !call_noter_take_bytes(n, words * sizeof *n->at)) {
        n->begin = n->at = n->spare;
        n->end = n->spare + SPARE_WORDS - NOTED_MOST_WORDS;
        return;
    }
    uint32_t *block = need_more(NULL, words, sizeof *block);
    GROW(n->blocks, n->block_count, n->block_room);
    n->blocks[n->block_count++] = block;
    if (count)
        memcpy(block, n->begin, count * sizeof *block);
    n->begin = block;
    n->at = block + count;
    n->end = block + words - NOTED_MOST_WORDS;
}

static void call_noter_make_depth(struct call_noter *n, size_t depth)
{
    n->function_room = larger(2 * depth, 64);
    n->functions = need_more(n->functions, n->function_room, sizeof *n->functions);
}

/* ---- notes ---- */

/* The loop over events. Actions of other loops take it for their own. */
struct noted_loop {
    struct collector_loop base;
    struct call_noter *n;
    uint32_t *at, *end; /* those of n, as what follows */
    uint64_t last;
    size_t level;
};

static inline void noted_loop_store(const struct noted_loop *l)
{
    l->n->at = l->at;
    l->n->last = l->last;
    l->n->level = l->level;
}

static inline void noted_loop_load(struct noted_loop *l)
{
    l->at = l->n->at;
    l->end = l->n->end;
    l->last = l->n->last;
    l->level = l->n->level;
}

STACK_INLINE void noted_loop_make_room(struct noted_loop *l)
{
    if (__builtin_expect(l->at < l->end, 1))
        return;
    noted_loop_store(l);
    call_noter_make_room(l->n);
    noted_loop_load(l);
}

/* Returns the step of a note of this depth. */
STACK_INLINE uint32_t noted_loop_step(struct noted_loop *l, size_t depth)
{
    const size_t step = depth + 1 - l->level;
    if (__builtin_expect(step < NOTED_STEPS, 1))
        return (uint32_t)step;
    l->n->bad |= step > NOTED_MOST_NUMBER;
    *l->at++ = (uint32_t)step << NOTED_KIND_BITS | NOTED_DEEPER;
    l->level = depth + 1;
    return 0;
}

/* The word of an amount. */
STACK_INLINE uint32_t noted_loop_word(const struct noted_loop *l, uint64_t amount)
{
    if (__builtin_expect(amount > UINT32_MAX, 0))
        l->n->bad = true;
    return (uint32_t)amount;
}

/* The first two words. */
STACK_INLINE void noted_loop_begin(struct noted_loop *l, uint32_t number, uint32_t kind, uint64_t now)
{
    if (__builtin_expect(number > NOTED_MOST_NUMBER, 0))
        l->n->bad = true;
    l->at[0] = number << NOTED_KIND_BITS | kind;
    l->at[1] = noted_loop_word(l, now - l->last);
    l->at += 2;
    l->last = now;
}

/* A call of this depth that ended. */
STACK_INLINE void noted_loop_call(struct noted_loop *l, size_t depth, uint32_t node, uint64_t entered, uint64_t now)
{
    noted_loop_make_room(l);
    const uint32_t step = noted_loop_step(l, depth);
    if (__builtin_expect(l->base.w->profile->nodes[node].calls == 1, 0))
        *l->at++ = NOTED_FIRST;
    noted_loop_begin(l, node, step, now);
    *l->at++ = noted_loop_word(l, now - entered);
    l->level = depth;
}

/* An interval of the innermost call. */
STACK_INLINE void noted_loop_os(struct noted_loop *l, const struct decoded_extras *extras, uint64_t now,
                                uint64_t length)
{
    const struct collector *w = l->base.w;
    const struct interval_parts parts = interval_parts(extras, length);
    const uint64_t off_cpu = parts.blocked + parts.preempted;
    const size_t depth = w->depth - 1;
    if (!depth)
        return;
    noted_loop_make_room(l);
    const uint32_t step = noted_loop_step(l, depth);
    noted_loop_begin(l, w->stack[depth].node, NOTED_OS, now);
    *l->at++ = noted_loop_word(l, length);
    *l->at++ = step | (parts.flagged != length ? NOTED_PARTLY : 0) | (parts.runtime ? NOTED_RUNTIME : 0) |
               (off_cpu ? NOTED_OFF_CPU : 0);
    if (parts.flagged != length)
        *l->at++ = noted_loop_word(l, parts.flagged);
    if (parts.runtime)
        *l->at++ = noted_loop_word(l, parts.runtime);
    if (off_cpu)
        *l->at++ = noted_loop_word(l, off_cpu);
    l->level = depth + 1;
}

/* The innermost call, which was open at the beginning of the chunk, ended. */
STACK_INLINE void noted_loop_found(struct noted_loop *l, uint64_t now)
{
    noted_loop_make_room(l);
    noted_loop_begin(l, 0, NOTED_FOUND, now);
    l->level = l->n->inherited--;
}

/* ---- actions on events ---- */

STACK_INLINE void noted_interval(void *to, const struct decoder *d, uint64_t begin)
{
    collector_add_sampled_interval(to, d, begin);
    if (__builtin_expect(d->has_extras, 0)) {
        const struct decoded_extras extras = d->extras; /* a copy, so that the decoder has no address */
        noted_loop_os(to, &extras, d->time, d->time - begin);
    }
}

static inline void noted_skip(void *to, const struct decoder *d, uint64_t begin)
{
    const struct noted_loop *l = to;
    collector_skip_sampled_interval(to, d, begin);
    l->n->bad = true;
}

STACK_INLINE void noted_enter(void *to, const struct decoder *d)
{
    struct noted_loop *l = to;
    const size_t depth = l->base.w->depth;
    if (__builtin_expect(depth >= l->n->function_room, 0))
        call_noter_make_depth(l->n, depth);
    l->n->functions[depth] = d->function;
    collector_enter(to, d);
}

STACK_INLINE void noted_exit(void *to, const struct decoder *d)
{
    struct noted_loop *l = to;
    const struct collector *w = l->base.w;
    const size_t depth = w->depth - 1;
    if (__builtin_expect(depth <= l->n->inherited, 0))
        noted_loop_found(l, d->time);
    else
        noted_loop_call(l, depth, w->stack[depth].node, w->stack[depth].enter_time, d->time);
    collector_exit(to, d);
}

/* A call at whose end a sample is added. */
STACK_INLINE void noted_sampled_leaf(void *to, uint64_t function, uint64_t entered, uint64_t left)
{
    const struct decoder enter = { .function = function, .time = entered }, exit = { .time = left };
    noted_enter(to, &enter);
    noted_interval(to, &exit, entered);
    noted_exit(to, &exit);
}

STACK_INLINE void noted_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct noted_loop *l = to;
    struct collector *w = l->base.w;
    if (__builtin_expect(w->sampled.next_time < d->time, 0)) {
        noted_sampled_leaf(to, d->function, entered, d->time);
        return;
    }
    const uint32_t number = collector_begin_call(w, d->function, entered);
    struct profile_node *node = &w->profile->nodes[number];
    node->elapsed += d->time - entered;
    collector_add_duration(node, d->time - entered);
    l->base.enters++;
    l->base.exits++;
    noted_loop_call(l, w->depth, number, entered, d->time);
}

static inline void noted_left(void *to, const struct decoder *d)
{
    const struct noted_loop *l = to;
    collector_left(to, d);
    l->n->bad = true;
}

static inline void noted_ended(void *to, const struct decoder *d)
{
    const struct noted_loop *l = to;
    collector_drop_call(to, d);
    l->n->bad = true;
}

static inline void noted_set_aside(void *to, const struct decoder *d)
{
    const struct noted_loop *l = to;
    collector_set_aside(to, d);
    l->n->bad = true;
}

static inline void noted_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    const struct noted_loop *l = to;
    collector_open_call(to, d, frame, site);
    l->n->bad = true;
}

static inline void noted_pause(void *to, const struct decoder *d)
{
    const struct noted_loop *l = to;
    collector_pause(to, d);
    l->n->bad = true;
}

static inline void noted_resume(void *to, const struct decoder *d)
{
    const struct noted_loop *l = to;
    collector_resume(to, d);
    l->n->bad = true;
}

void call_noter_add(struct collector *w, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = collector_depth,
        .interval = noted_interval,
        .skip = noted_skip,
        .delay = collector_delay_calls,
        .enter = noted_enter,
        .exit = noted_exit,
        .leaf = noted_leaf,
        .left = noted_left,
        .ended = noted_ended,
        .stray_exit = collector_stray_exit,
        .set_aside = noted_set_aside,
        .open = noted_open,
        .pause = noted_pause,
        .resume = noted_resume,
        .mark = collector_mark,
    };
    struct profile_counts *counts = &w->profile->counts;
    struct noted_loop loop = { .base.w = w, .n = w->noter };
    noted_loop_load(&loop);
    stack_apply_all(&actions, &loop, &w->state, d);
    noted_loop_store(&loop);
    counts->enters += loop.base.enters;
    counts->exits += loop.base.exits;
    counts->intervals += loop.base.enters + loop.base.exits;
}

/* ---- chunks ---- */

bool call_noter_begin(struct collector *w)
{
    struct call_noter *n = w->noter;
    if (n->full)
        return false;
    n->bad = w->state.paused;
    n->begin = n->chunk_at = n->at;
    n->chunk_end = n->end;
    n->last = w->chunk->start_time;
    n->inherited = n->first_count = w->depth - 1;
    n->level = w->depth;
    if (w->depth >= n->function_room)
        call_noter_make_depth(n, w->depth);
    for (size_t i = 1; i < w->depth; i++) {
        const struct dwell_frame frame = stack_frame(w->chunk, w->window.buffer, (uint32_t)i - 1);
        if (i > n->first_room) {
            n->first_room = larger(2 * i, 64);
            n->first = need_more(n->first, n->first_room, sizeof *n->first);
        }
        n->first[i - 1] = (struct noted_open){ frame.function, frame.enter_time, w->stack[i].node };
    }
    return true;
}

void call_noter_end(struct collector *w)
{
    struct call_noter *n = w->noter;
    const size_t index = (size_t)(w->chunk - w->file->chunks), begun = w->depth - 1 - n->inherited,
                 open = n->first_count + begun;
    if (n->bad || !call_noter_take_bytes(n, open * sizeof *n->first)) {
        n->at = n->chunk_at;
        n->end = n->chunk_end;
        return;
    }
    struct noted_chunk *chunk = &n->calls->chunks[index];
    *chunk = (struct noted_chunk){
        .words = n->begin,
        .count = (size_t)(n->at - n->begin),
        .open = need_memory(open + 1, sizeof *chunk->open),
        .inherited = (uint32_t)n->first_count,
        .begun = (uint32_t)begun,
        .last = w->state.last,
    };
    for (size_t i = 0; i < n->first_count; i++)
        chunk->open[i] = n->first[i];
    for (size_t i = n->inherited + 1; i < w->depth; i++)
        chunk->open[n->first_count + i - 1 - n->inherited] =
            (struct noted_open){ n->functions[i], w->stack[i].enter_time, w->stack[i].node };
    GROW(n->chunks, n->chunk_count, n->chunk_room);
    n->chunks[n->chunk_count++] = index;
}
