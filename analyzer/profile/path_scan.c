/* Adds the intervals of threads to the functions that were innermost in them, range by range. A range that lies in
 * several chunks has parts of several workers, which are added up at the end. */
#include "profile/path_scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/sorted.h"
#include "profile/chunk_ends.h"
#include "profile/generations.h"
#include "profile/identify.h"
#include "profile/path_memory.h"
#include "trace/chunk_window.h"
#include "trace/stack.h"

/* What the workers share. */
struct path_job {
    const struct session_file *file;
    const struct profile *profile;
    const struct path_range *ranges;
    size_t range_count;
    const uint64_t *ends; /* by chunk */
    uint32_t *longest;    /* by range, as the next one; NULL if not wanted */
    uint64_t *outside;
    struct path_memory *memory; /* or NULL */
    size_t next_chunk;
};

/* The time of a function in the part of a range that is in one chunk. */
struct path_part {
    uint32_t range, function;
    struct path_times times;
};

/* A function in the current range of a worker. */
struct path_slot {
    struct path_times times;
    bool listed;
};

struct path_worker {
    struct path_job *job;
    struct number_index *functions; /* (address and generation) -> function */
    struct chunk_window window;
    uint32_t *stack; /* functions; stack[0] is outside of all */
    size_t depth, room;
    struct path_slot *slots; /* by function */
    uint32_t *listed;        /* the functions that have times */
    size_t listed_count;
    struct path_times *sums;
    struct path_amounts *amounts; /* by function: those of whole ranges; NULL if not wanted */
    struct path_part *parts;
    size_t part_count, part_room;
    const struct trace_chunk *chunk;
    const struct trace_process *process;
    uint32_t serial; /* of the process, or zero */
    struct generations generations;
    size_t range, last_range; /* the current range, and the end of those of the thread */
    uint64_t begin, end;      /* limits of the current range; both are UINT64_MAX after the last one */
    pthread_t pthread;
};

/* ---- ranges ---- */

static void path_set_range(struct path_worker *w, size_t range)
{
    const bool known = range < w->last_range;
    w->range = range;
    w->begin = known ? w->job->ranges[range].begin : UINT64_MAX;
    w->end = known ? w->job->ranges[range].end : UINT64_MAX;
}

/* The number of ranges that are before that time of the thread. */
static size_t path_find_range(const struct path_job *job, uint32_t thread, uint64_t time)
{
    return LOWER_BOUND(r, job->ranges, job->range_count, r->thread < thread || (r->thread == thread && r->end <= time));
}

/* An order of functions that does not depend on their numbers. */
static bool path_comes_first(const struct profile *p, uint32_t a, uint32_t b)
{
    if (a >= p->function_count || b >= p->function_count)
        return a < b;
    const struct profile_function *x = &p->functions[a], *y = &p->functions[b];
    if (x->offset != y->offset)
        return x->offset < y->offset;
    return strcmp(p->modules[x->module].path, p->modules[y->module].path) < 0;
}

static void path_add_ticks(struct path_amounts *a, uint32_t range, uint64_t ticks, bool runnable)
{
    for (uint32_t part; ticks; ticks -= part) {
        part = (uint32_t)smaller(ticks, UINT32_MAX);
        GROW(a->list, a->count, a->room);
        a->list[a->count++] = (struct path_amount){ range & INT32_MAX, runnable, part };
    }
}

static void path_add_amount(struct path_amounts *a, uint32_t range, const struct path_times *times)
{
    path_add_ticks(a, range, times->work, false);
    path_add_ticks(a, range, times->runnable, true);
}

/* Ends the current range, or the part of it that is in the chunk. */
static void path_flush(struct path_worker *w, uint64_t now)
{
    const bool whole = w->begin >= w->chunk->start_time && w->end <= now;
    uint32_t longest = PROFILE_NONE;
    uint64_t most = 0;
    for (size_t i = 0; i < w->listed_count; i++) {
        const uint32_t function = w->listed[i];
        struct path_slot *slot = &w->slots[function];
        const uint64_t total = path_times_total(&slot->times);
        path_times_add(&w->sums[function], &slot->times);
        if (total > most || (total == most && path_comes_first(w->job->profile, function, longest))) {
            most = total;
            longest = function;
        }
        if (!whole) {
            GROW(w->parts, w->part_count, w->part_room);
            w->parts[w->part_count++] = (struct path_part){ (uint32_t)w->range, function, slot->times };
        } else if (w->amounts) {
            path_add_amount(&w->amounts[function], (uint32_t)w->range, &slot->times);
            if (slot->times.outside) /* pages that are not written take no memory */
                w->job->outside[w->range] += slot->times.outside;
        }
        *slot = (struct path_slot){ .listed = false };
    }
    if (whole && w->listed_count && w->job->longest)
        w->job->longest[w->range] = longest;
    w->listed_count = 0;
}

static void path_next_range(struct path_worker *w)
{
    path_flush(w, w->end);
    path_set_range(w, w->range + 1);
}

/* ---- intervals ---- */

STACK_INLINE struct path_times *path_times_of(struct path_worker *w, uint32_t function)
{
    struct path_slot *slot = &w->slots[function];
    if (__builtin_expect(!slot->listed, 0)) {
        slot->listed = true;
        w->listed[w->listed_count++] = function;
    }
    return &slot->times;
}

/* Adds a time off the CPU. The part before the range's `woken` is runnable in any case. */
static void path_add_off(struct path_worker *w, struct path_times *times, uint64_t begin, uint64_t end, bool preempted)
{
    const uint64_t woken = w->job->ranges[w->range].woken;
    const uint64_t ready = preempted ? end - begin : less(smaller(end, woken), begin);
    times->runnable += ready;
    times->outside += end - begin - ready;
}

/* Adds the part of an interval that is in the current range. */
static void path_add_part(struct path_worker *w, const struct decoded_extras *extras, uint64_t begin, uint64_t end)
{
    struct path_times *times = path_times_of(w, w->stack[w->depth - 1]);
    const uint64_t from = larger(begin, w->begin), to = smaller(end, w->end);
    const uint64_t before = times->runnable + times->outside;
    struct decoded_off_cpu off;
    const uint8_t *at = extras->run;
    for (uint64_t last = 0; decode_next_off_cpu(extras, begin, end, &at, &last, &off);) {
        const uint64_t off_begin = larger(off.begin, from), off_end = smaller(off.begin + off.length, to);
        if (off_begin < off_end)
            path_add_off(w, times, off_begin, off_end, off.preempted);
    }
    times->work += to - from - (times->runnable + times->outside - before);
}

static void path_add_parts(struct path_worker *w, const struct decoded_extras *extras, uint64_t begin, uint64_t end)
{
    while (w->end <= begin && w->end != UINT64_MAX)
        path_next_range(w);
    while (w->begin < end) {
        path_add_part(w, extras, begin, end);
        if (w->end > end)
            return;
        path_next_range(w);
    }
}

/* ---- actions on events ---- */

static inline size_t path_depth(const void *to)
{
    const struct path_worker *w = to;
    return w->depth - 1;
}

static inline void path_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct path_worker *w = to;
    if (__builtin_expect(d->has_extras, 0)) {
        const struct decoded_extras extras = d->extras;
        path_add_parts(w, &extras, begin, d->time);
    } else if (__builtin_expect(begin >= w->begin && d->time < w->end, 1)) {
        path_times_of(w, w->stack[w->depth - 1])->work += d->time - begin;
    } else if (d->time > w->begin) {
        const struct decoded_extras none = { 0 };
        path_add_parts(w, &none, begin, d->time);
    }
}

static inline void path_skip(void *to, const struct decoder *d, uint64_t begin)
{
    (void)to;
    (void)d;
    (void)begin;
}

static inline void path_delay(void *to, uint64_t ticks)
{
    (void)to;
    (void)ticks;
}

static uint32_t path_look_up(struct path_worker *w, uint64_t address, uint64_t time, uint64_t key)
{
    struct index_slot *slot = index_find(w->functions, key, w->serial);
    const uint32_t found = find_function(w->job->profile, w->process, address, time);
    const uint32_t function = found == PROFILE_NONE ? (uint32_t)w->job->profile->function_count : found;
    index_set(w->functions, slot, key, w->serial, function);
    return function;
}

STACK_INLINE uint32_t path_function(struct path_worker *w, uint64_t address, uint64_t time)
{
    if (__builtin_expect(time >= w->generations.next_at || time < w->generations.begin_at, 0))
        generations_find(&w->generations, time);
    const uint64_t key = generations_address(&w->generations, address);
    const struct index_slot *slot = index_find(w->functions, key, w->serial);
    return __builtin_expect(slot->value_plus_1 != 0, 1) ? slot->value_plus_1 - 1 : path_look_up(w, address, time, key);
}

STACK_INLINE void path_push(struct path_worker *w, uint64_t address, uint64_t time)
{
    const uint32_t function = path_function(w, address, time);
    if (__builtin_expect(w->depth == w->room, 0))
        GROW(w->stack, w->depth, w->room);
    w->stack[w->depth++] = function;
}

static inline void path_enter(void *to, const struct decoder *d)
{
    path_push(to, d->function, d->time);
}

static inline void path_pop(void *to, const struct decoder *d)
{
    struct path_worker *w = to;
    (void)d;
    w->depth--;
}

/* A call at a border of the current range. */
__attribute__((noinline)) static void path_rare_leaf(struct path_worker *w, uint64_t address, uint64_t entered,
                                                     uint64_t left)
{
    const struct decoded_extras none = { 0 };
    path_push(w, address, entered);
    if (left > w->begin)
        path_add_parts(w, &none, entered, left);
    w->depth--;
}

/* A call that is within the current range needs no place on the stack. */
STACK_INLINE void path_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct path_worker *w = to;
    if (__builtin_expect(entered >= w->begin && d->time < w->end, 1)) {
        path_times_of(w, path_function(w, d->function, entered))->work += d->time - entered;
        return;
    }
    path_rare_leaf(w, d->function, entered, d->time);
}

static inline void path_nothing(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

static inline void path_set_aside(void *to, const struct decoder *d)
{
    struct path_worker *w = to;
    (void)d;
    w->depth = 1;
}

static inline void path_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    (void)site;
    path_push(to, frame->function, d->time);
}

static void path_events(struct path_worker *w, struct stack_state *state, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = path_depth,
        .interval = path_interval,
        .skip = path_skip,
        .delay = path_delay,
        .enter = path_enter,
        .exit = path_pop,
        .leaf = path_leaf,
        .left = path_pop,
        .ended = path_pop,
        .stray_exit = path_nothing,
        .set_aside = path_set_aside,
        .open = path_open,
        .pause = path_nothing,
        .resume = path_nothing,
        .mark = path_nothing,
    };
    stack_apply_all(&actions, w, state, d);
}

/* ---- chunks ---- */

static void path_open_frames(struct path_worker *w)
{
    if (w->room == 0)
        GROW(w->stack, w->depth, w->room);
    w->stack[0] = (uint32_t)w->job->profile->function_count;
    w->depth = 1;
    for (uint32_t i = 0; i < w->chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(w->chunk, w->window.buffer, i);
        path_push(w, frame.function, frame.enter_time);
    }
}

static const char *path_top_module(const struct path_worker *w)
{
    const struct profile *p = w->job->profile;
    const uint32_t top = w->stack[w->depth - 1];
    return top < p->function_count ? p->modules[p->functions[top].module].path : "";
}

/* Adds the interval from the thread's last event to its end. */
static void path_add_last(struct path_worker *w, const struct stack_state *state)
{
    const struct trace_thread *t = stack_thread_end(w->job->file, w->chunk, state);
    if (!t)
        return;
    const struct decoded_extras extras = stack_end_extras(t, path_top_module(w), t->end_time - state->last);
    path_add_parts(w, &extras, state->last, t->end_time);
}

/* Whether all of the current chunk is in the current range, and what its times are does not depend on the range. The
 * time to a thread's end is in none of its events. */
static bool path_chunk_is_within(const struct path_worker *w, uint64_t last)
{
    return w->begin <= w->chunk->start_time && last < w->end && !w->chunk->last_of_thread &&
           w->job->ranges[w->range].woken <= w->chunk->start_time;
}

/* Adds the chunk without reading it. Returns false if that is not possible. */
static bool path_add_remembered(struct path_worker *w, size_t index)
{
    const struct path_chunk *chunk = w->job->memory ? path_memory_find(w->job->memory, index) : NULL;
    if (!chunk || !path_chunk_is_within(w, chunk->last))
        return false;
    for (size_t i = 0; i < chunk->count; i++)
        *path_times_of(w, chunk->list[i].function) = chunk->list[i].times;
    path_flush(w, chunk->last);
    return true;
}

/* `first` is the range in which the chunk began. What it has is not flushed yet. */
static void path_remember(const struct path_worker *w, size_t index, size_t first, uint64_t last)
{
    if (!w->job->memory || w->range != first || !path_chunk_is_within(w, last))
        return;
    struct path_chunk *chunk = path_memory_add(w->job->memory, index, w->listed_count);
    for (size_t i = 0; chunk && i < w->listed_count; i++)
        chunk->list[i] = (struct path_remembered){ w->listed[i], w->slots[w->listed[i]].times };
    if (chunk)
        chunk->last = last;
}

static void path_add_chunk(struct path_worker *w, size_t index)
{
    const struct trace_chunk *chunk = &w->job->file->chunks[index];
    struct stack_state state;
    struct decoder d;
    w->chunk = chunk;
    w->last_range = path_find_range(w->job, chunk->thread, UINT64_MAX);
    path_set_range(w, path_find_range(w->job, chunk->thread, chunk->start_time));
    const size_t first = w->range;
    if (path_add_remembered(w, index) || !window_begin(&w->window, w->job->file, chunk, &d))
        return;
    w->process = session_file_process(w->job->file, chunk->process);
    w->serial = w->process ? w->process->serial : 0;
    generations_begin(&w->generations, w->process);
    stack_begin(&state, chunk);
    path_open_frames(w);
    do
        path_events(w, &state, &d);
    while (w->begin != UINT64_MAX && window_more(&w->window, &d));
    if (w->begin == UINT64_MAX)
        return;
    path_remember(w, index, first, state.last);
    path_add_last(w, &state);
    path_flush(w, state.last);
}

static bool path_wants_chunk(const struct path_job *job, size_t index)
{
    const struct trace_chunk *chunk = &job->file->chunks[index];
    if (chunk->kind != DWELL_CHUNK_EVENTS)
        return false;
    const size_t range = path_find_range(job, chunk->thread, chunk->start_time);
    return range < job->range_count && job->ranges[range].thread == chunk->thread &&
           job->ranges[range].begin <= job->ends[index];
}

static void *path_work(void *argument)
{
    struct path_worker *w = argument;
    for (;;) {
        const size_t i = __atomic_fetch_add(&w->job->next_chunk, 1, __ATOMIC_RELAXED);
        if (i >= w->job->file->chunk_count)
            return NULL;
        if (path_wants_chunk(w->job, i))
            path_add_chunk(w, i);
        progress_add(1);
    }
}

/* ---- workers ---- */

static void path_worker_begin(struct path_worker *w, struct path_job *job)
{
    const size_t functions = job->profile->function_count + 1;
    *w = (struct path_worker){ .job = job };
    w->functions = index_new();
    w->slots = need_memory(functions, sizeof *w->slots);
    w->listed = need_memory(functions, sizeof *w->listed);
    w->sums = need_memory(functions, sizeof *w->sums);
    w->amounts = job->outside ? need_memory(functions, sizeof *w->amounts) : NULL;
}

static void path_worker_end(struct path_worker *w)
{
    index_free(w->functions);
    window_free(&w->window);
    free(w->stack);
    free(w->slots);
    free(w->listed);
    free(w->sums);
    free(w->amounts);
    free(w->parts);
}

/* Moves the amounts of a function to those of the scan. The lists may be large. */
static void path_take_amounts(struct path_amounts *into, struct path_amounts *from)
{
    if (!into->count) {
        *into = *from;
        return;
    }
    into->room = into->count + from->count;
    into->list = need_more(into->list, into->room, sizeof *into->list);
    if (from->count)
        memcpy(into->list + into->count, from->list, from->count * sizeof *from->list);
    into->count = into->room;
    free(from->list);
}

static void path_take_sums(struct path_scan *s, struct path_worker *w)
{
    for (size_t i = 0; i < s->functions; i++) {
        path_times_add(&s->sums[i], &w->sums[i]);
        if (s->amounts)
            path_take_amounts(&s->amounts[i], &w->amounts[i]);
    }
}

static int path_compare_parts(const void *a, const void *b)
{
    const struct path_part *x = a, *y = b;
    return ORDER_BY(x, y, range, function);
}

/* The parts of all workers, those of each range and function added up. The caller frees them. */
static struct path_part *path_join_parts(const struct path_worker *workers, unsigned jobs, size_t *count)
{
    size_t all = 0;
    for (unsigned i = 0; i < jobs; i++)
        all += workers[i].part_count;
    struct path_part *parts = need_memory(all + 1, sizeof *parts);
    all = 0;
    for (unsigned i = 0; i < jobs; i++)
        for (size_t part = 0; part < workers[i].part_count; part++)
            parts[all++] = workers[i].parts[part];
    if (all)
        qsort(parts, all, sizeof *parts, path_compare_parts);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (*count && path_compare_parts(&parts[*count - 1], &parts[i]) == 0)
            path_times_add(&parts[*count - 1].times, &parts[i].times);
        else
            parts[(*count)++] = parts[i];
    return parts;
}

/* Adds the ranges that lie in several chunks. */
static void path_add_joined(struct path_scan *s, const struct profile *p, const struct path_part *parts, size_t count)
{
    for (size_t i = 0, most = 0; i < count; i++) {
        const struct path_part *part = &parts[i];
        if (parts[most].range != part->range)
            most = i;
        const uint64_t total = path_times_total(&part->times), other = path_times_total(&parts[most].times);
        if (total > other || (total == other && path_comes_first(p, part->function, parts[most].function)))
            most = i;
        if (s->longest)
            s->longest[part->range] = parts[most].function;
        if (!s->amounts)
            continue;
        path_add_amount(&s->amounts[part->function], part->range, &part->times);
        s->outside[part->range] += part->times.outside;
    }
}

struct path_scan path_scan_run(const struct session_file *file, const struct profile *profile, unsigned jobs,
                               const struct path_range *ranges, size_t count, bool amounts, struct path_memory *memory)
{
    struct path_scan s = { .functions = profile->function_count + 1 };
    s.sums = need_memory(s.functions, sizeof *s.sums);
    s.longest = amounts ? NULL : need_memory(count + 1, sizeof *s.longest);
    s.amounts = amounts ? need_memory(s.functions, sizeof *s.amounts) : NULL;
    s.outside = amounts ? need_memory(count + 1, sizeof *s.outside) : NULL;
    uint64_t *ends = chunk_ends(file);
    struct path_job job = { file, profile, ranges, count, ends, s.longest, s.outside, memory, 0 };
    struct path_worker *workers = need_memory(jobs, sizeof *workers);
    bool *started = need_memory(jobs, sizeof *started);
    size_t part_count;
    for (size_t i = 0; s.longest && i < count; i++)
        s.longest[i] = PROFILE_NONE;
    for (unsigned i = 0; i < jobs; i++)
        path_worker_begin(&workers[i], &job);
    progress_begin("following", file->path, file->chunk_count);
    for (unsigned i = 1; i < jobs; i++)
        started[i] = pthread_create(&workers[i].pthread, NULL, path_work, &workers[i]) == 0;
    path_work(&workers[0]);
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(workers[i].pthread, NULL);
        path_take_sums(&s, &workers[i]);
    }
    progress_end();
    struct path_part *parts = path_join_parts(workers, jobs, &part_count);
    path_add_joined(&s, profile, parts, part_count);
    for (unsigned i = 0; i < jobs; i++)
        path_worker_end(&workers[i]);
    free(parts);
    free(started);
    free(workers);
    free(ends);
    return s;
}

void path_scan_drop(struct path_scan *s)
{
    for (size_t i = 0; s->amounts && i < s->functions; i++)
        free(s->amounts[i].list);
    free(s->amounts);
    free(s->outside);
    free(s->sums);
    free(s->longest);
}
