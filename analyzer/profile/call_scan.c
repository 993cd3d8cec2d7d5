/* Finds single calls: workers read one chunk after the other. Calls that lie in one chunk are passed on at once. The
 * parts of the others are joined at the end. */
#include "profile/call_scan.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "base/progress.h"
#include "profile/call_scanner.h"
#include "profile/identify.h"
#include "trace/chunk_order.h"

enum { FIRST_MOST_CHILDREN = 1 << 16 /* of a worker: about 4 MB */ };

/* ---- paths and parts of calls ---- */

/* For calls of the thread that the profile does not have. */
static uint32_t call_scan_unknown_path(const struct call_scan *scan, uint32_t thread)
{
    return (uint32_t)(scan->probes.known + session_file_thread_index(scan->source->file, thread));
}

/* The path's first chunk is read by one worker only, which finds the path once in a chunk. So that is when the path's
 * first call is found. */
uint64_t call_scanner_take_rest(const struct call_scanner *s, uint32_t path)
{
    struct path_probes *probes = &s->scan->probes.paths[path];
    if (probes->first != s->chunk->sequence)
        return 0;
    const uint64_t rest = probes->rest;
    if (rest)
        probes->rest = 0;
    return rest;
}

uint32_t call_scanner_add_path(struct call_scanner *s, uint32_t parent, uint64_t address, uint64_t time)
{
    const struct profile *profile = s->scan->source->profile;
    const uint64_t key = generations_address(&s->generations, address);
    const uint32_t function = find_function(profile, s->process, address, time);
    uint32_t path = parent >= s->scan->probes.known || function == PROFILE_NONE
                        ? PROFILE_NONE
                        : profile_find_child(profile, parent, function);
    if (path == PROFILE_NONE)
        path = call_scan_unknown_path(s->scan, s->chunk->thread);
    index_set(s->children, index_find(s->children, key, parent), key, parent, path);
    s->first_found += s->scan->probes.paths[path].first == s->chunk->sequence;
    s->lost -= call_scanner_take_rest(s, path);
    return path;
}

void call_scanner_make_room(struct call_scanner *s)
{
    GROW(s->stack, s->depth, s->room);
    s->rare = need_more(s->rare, s->room, sizeof *s->rare);
    s->last_place = s->stack + s->room - 1;
}

void call_scanner_flush(struct call_scanner *s)
{
    for (size_t i = 0; i < s->amount_count && !s->scan->source->by_path; i++)
        s->amounts[i].function = s->scan->paths[s->amounts[i].path].number;
    if (s->amount_count)
        s->scan->take_amounts(s->context, s->amounts, s->amount_count);
    s->amount_count = 0;
}

void call_scanner_keep_part(struct call_scanner *s, struct call_part part, uint64_t now, bool ended)
{
    if (s->depth > s->inherited - s->ended_count)
        return; /* it was found open after a pause */
    part.end = now;
    part.ended = ended;
    GROW(s->ended, s->ended_count, s->ended_room);
    s->ended[s->ended_count++] = part;
}

/* ---- chunks ---- */

static void call_scan_open_frames(struct call_scanner *s)
{
    const struct calls_source *source = s->scan->source;
    const uint32_t root = profile_find_root(source->profile, s->chunk->process, s->chunk->thread);
    if (s->room == 0)
        call_scanner_make_room(s);
    s->stack[0] =
        (struct scanned_call){ .path =
                                   root == PROFILE_NONE ? call_scan_unknown_path(s->scan, s->chunk->thread) : root };
    s->stack[0].kind = s->scan->steps[s->stack[0].path].kind;
    s->depth = 1;
    struct call_scan_loop loop = call_scan_loop_of(s);
    for (uint32_t i = 0; i < s->chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(s->chunk, s->window.buffer, i);
        generations_find(&s->generations, frame.enter_time);
        call_scan_loop_push(&loop, frame.function, frame.enter_time, s->chunk->start_time, false)->called_times = 0;
    }
    call_scan_loop_store(&loop);
    generations_find(&s->generations, s->chunk->start_time);
    s->inherited = s->chunk->depth;
}

/* Whether the loop is that of all times. */
static bool call_scan_finds_times(const struct call_scan *scan)
{
    return !scan->take_amounts;
}

/* Adds what the open calls have so far to the calls below them, and lists the parts of all calls that are or were open
 * at a border of the chunk. */
static void call_scan_keep_open(struct call_scanner *s, struct chunk_parts *parts, uint64_t now)
{
    const size_t kept = s->inherited - s->ended_count;
    parts->inherited = (uint32_t)s->inherited;
    parts->kept = (uint32_t)kept;
    parts->count = (uint32_t)(s->inherited + s->depth - 1 - kept);
    parts->calls = need_memory(parts->count, sizeof *parts->calls);
    for (size_t i = 0; i < s->ended_count; i++)
        parts->calls[s->inherited - 1 - i] = s->ended[i];
    for (size_t i = s->depth - 1; i > 0; i--)
        parts->calls[i - 1 < kept ? i - 1 : i - 1 + s->ended_count] =
            call_scan_finds_times(s->scan) ? call_scan_times_part(s, &s->stack[i], now)
                                           : call_scan_elapsed_part(s, &s->stack[i], now);
}

static void call_scan_chunk(struct call_scanner *s, const struct trace_chunk *chunk)
{
    struct chunk_parts *parts = &s->scan->parts[s->index];
    struct stack_state state;
    struct decoder d;
    const uint32_t *paths;
    const struct noted_chunk *noted =
        call_scan_finds_times(s->scan) ? NULL : noted_calls_of(s->scan->source->noted, s->index, &paths);
    s->chunk = chunk;
    if (noted) {
        call_scan_notes(s, noted, paths, parts);
        call_scanner_flush(s);
        return;
    }
    if (!window_begin(&s->window, s->scan->source->file, chunk, &d))
        return;
    s->process = session_file_process(s->scan->source->file, chunk->process);
    s->depth = s->ended_count = 0;
    s->delay = s->lost = 0;
    generations_begin(&s->generations, s->process);
    stack_begin(&state, chunk);
    call_scan_open_frames(s);
    do
        if (call_scan_finds_times(s->scan))
            call_scan_times_events(s, &d, &state);
        else
            call_scan_elapsed_events(s, &d, &state);
    while (window_more(&s->window, &d));
    call_scanner_flush(s);
    call_scan_keep_open(s, parts, state.last);
    parts->delay = s->delay;
    parts->last = state.last;
    parts->paused = state.paused;
    parts->read = true;
}

static void call_scan_seek_switches(struct call_scanner *s, const struct trace_chunk *chunk)
{
    struct decoder d;
    if (__atomic_load_n(&s->scan->has_switches, __ATOMIC_RELAXED) ||
        !window_begin(&s->window, s->scan->source->file, chunk, &d))
        return;
    do
        for (enum decoded event; (event = decode_next(&d)) != DECODED_END; d.control_type = 0)
            if (event == DECODED_CONTROL && d.control_type == DWELL_EXT_SWITCH)
                __atomic_store_n(&s->scan->has_switches, true, __ATOMIC_RELAXED);
    while (window_more(&s->window, &d));
}

/* Forgets paths, unless most of those that were found are in earlier chunks as well. Later chunks find theirs again. */
static void call_scan_keep_small(struct call_scanner *s)
{
    if (s->children->used < s->most)
        return;
    if (s->first_found * 2 < s->children->used) {
        s->most = 2 * s->children->used;
        return;
    }
    index_clear(s->children);
    s->first_found = 0;
}

static void *call_scan_work(void *argument)
{
    struct call_scanner *s = argument;
    const struct calls_source *source = s->scan->source;
    for (;;) {
        const size_t next = __atomic_fetch_add(&s->scan->next_chunk, 1, __ATOMIC_RELAXED);
        if (next >= source->file->chunk_count)
            return NULL;
        s->index = s->scan->order[next];
        const struct trace_chunk *chunk = &source->file->chunks[s->index];
        const bool late = source->selection && source->selection->cut && chunk->start_time >= source->selection->to;
        if (chunk->kind == DWELL_CHUNK_EVENTS && !late &&
            selection_takes(source->selection, source->file, chunk->process, chunk->thread))
            (s->scan->seeks_switches ? call_scan_seek_switches : call_scan_chunk)(s, chunk);
        call_scan_keep_small(s);
        progress_add(1);
    }
}

/* ---- the whole session ---- */

static bool call_scan_wants(const struct call_scan *scan, const struct scanned_path *path, uint32_t function)
{
    const struct selection *selection = scan->source->selection;
    return path->number != PROFILE_NONE && (function == PROFILE_NONE || function == path->number) &&
           (path->within || !selection || !selection->roots);
}

/* Both parts are sums of two numbers of 32 bits. */
static scanned_kind call_scan_number_cost(struct call_scan *scan, struct number_index *numbers,
                                          const struct path_probes *probes)
{
    const struct scanned_cost cost = { probes->held ? 0 : probes->call, probes->held ? 0 : probes->callee };
    const uint64_t key = cost.call << 33 | cost.callee;
    const uint32_t second = (uint32_t)(cost.call >> 31);
    struct index_slot *slot = index_find(numbers, key, second);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    index_set(numbers, slot, key, second, (uint32_t)scan->cost_count);
    scan->costs[scan->cost_count] = cost;
    return (scanned_kind)scan->cost_count++;
}

/* A part from 0 to 1 in 2^64ths. */
static uint64_t call_scan_part(double part)
{
    return part < 1 ? (uint64_t)ldexp(part, 64) : UINT64_MAX;
}

static void call_scan_add_kind(struct call_scan *scan, struct number_index *costs, size_t path)
{
    const struct path_probes *probes = &scan->probes.paths[path];
    scan->steps[path].kind = call_scan_number_cost(scan, costs, probes) << SCANNED_FLAG_BITS;
    if (probes->held)
        scan->steps[path].kind |= SCANNED_HELD;
    if (probes->held || probes->idle)
        scan->steps[path].kind |= SCANNED_IDLE;
    scan->steps[path].lost = call_scan_part(probes->idle ? probes->lost.flagged : probes->lost.application);
    if (path_probes_divide(probes))
        scan->steps[path].kind |= SCANNED_DIVIDED;
}

static void call_scan_find_path(struct call_scan *scan, size_t i, uint32_t function)
{
    const struct calls_source *source = scan->source;
    const struct profile_node *node = &source->profile->nodes[i];
    const struct scanned_path *parent = &scan->paths[node->parent];
    struct scanned_path *path = &scan->paths[i];
    path->number = source->functions ? source->functions[node->function] : node->function;
    path->caller = parent->number;
    path->within = parent->within || selection_is_root(source->selection, path->number);
    if (call_scan_wants(scan, path, function))
        scan->steps[i].kind |= SCANNED_WANTED;
}

static void call_scan_find_paths(struct call_scan *scan, uint32_t function)
{
    const struct profile *p = scan->source->profile;
    const size_t count = p->node_count + scan->source->file->thread_count + 1;
    struct number_index *costs = index_new();
    scan->paths = need_memory(count, sizeof *scan->paths);
    scan->steps = need_memory(count, sizeof *scan->steps);
    scan->costs = need_memory(3 * scan->source->file->process_count + 1, sizeof *scan->costs); /* and that of zero */
    for (size_t i = 0; i < count; i++) {
        scan->paths[i] = (struct scanned_path){ .number = PROFILE_NONE, .caller = PROFILE_NONE };
        call_scan_add_kind(scan, costs, i);
        if (i < p->node_count && p->nodes[i].parent != PROFILE_NONE)
            call_scan_find_path(scan, i, function);
    }
    index_free(costs);
}

struct call_scan_joined {
    const struct call_scan *scan;
    void *context;
};

static struct finished_call call_scan_join(const struct call_scan *scan, const struct trace_chunk *chunk,
                                           const struct call_part *call)
{
    struct call_amounts exclusive = call->own;
    call_amounts_take_part(&exclusive, &scan->probes.paths[call->path].sampled, call->end);
    return (struct finished_call){
        .function = scan->paths[call->path].number,
        .caller = scan->paths[call->path].caller,
        .path = call->path,
        .process = chunk->process,
        .thread = chunk->thread,
        .begin = call->begin,
        .end = call->end,
        .times = {
            [CALL_ELAPSED_INCLUSIVE] = call->own.elapsed + call->below.elapsed,
            [CALL_ELAPSED_EXCLUSIVE] = exclusive.elapsed,
            [CALL_APPLICATION_INCLUSIVE] = call->own.application + call->below.application,
            [CALL_APPLICATION_EXCLUSIVE] = exclusive.application,
        },
        .blocked = call->own.blocked + call->below.blocked,
        .off_cpu = call->own.off_cpu + call->below.off_cpu,
        .completed = true,
    };
}

static bool call_scan_take_joined(void *context, const struct trace_chunk *chunk, const struct call_part *call,
                                  const struct call_part *caller)
{
    const struct call_scan_joined *joined = context;
    (void)caller;
    if (joined->scan->steps[call->path].kind & SCANNED_WANTED &&
        selection_holds_on(joined->scan->source->selection, chunk->thread, call->end)) {
        const struct finished_call finished = call_scan_join(joined->scan, chunk, call);
        joined->scan->take(joined->context, &finished);
    }
    return true;
}

static void call_scan_run(struct call_scan *scan, unsigned jobs, void *const *contexts)
{
    struct call_scanner *scanners = need_memory(jobs, sizeof *scanners);
    bool *started = need_memory(jobs, sizeof *started);
    scan->order = chunk_order_by_thread(scan->source->file);
    progress_begin("following", scan->source->file->path, scan->source->file->chunk_count);
    for (unsigned i = jobs; i-- > 0;) {
        scanners[i] = (struct call_scanner){
            .scan = scan, .context = contexts[i], .children = index_new(), .most = FIRST_MOST_CHILDREN
        };
        started[i] = i && pthread_create(&scanners[i].thread, NULL, call_scan_work, &scanners[i]) == 0;
    }
    call_scan_work(&scanners[0]);
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(scanners[i].thread, NULL);
        index_free(scanners[i].children);
        window_free(&scanners[i].window);
        free(scanners[i].stack);
        free(scanners[i].rare);
        free(scanners[i].ended);
        free(scanners[i].sums);
    }
    progress_end();
    free(started);
    free(scanners);
}

struct call_scan_one {
    uint32_t function;
    call_scan_taker *take;
    void *context;
};

static bool call_scan_take_one(void *context, const struct finished_call *call)
{
    const struct call_scan_one *one = context;
    if (one->function == PROFILE_NONE || call->function == one->function)
        one->take(one->context, call);
    return true;
}

static void call_scan_in_order(const struct calls_source *source, uint32_t function, call_scan_taker *take,
                               void *context)
{
    calls_follow(source, call_scan_take_one, &(struct call_scan_one){ function, take, context });
}

/* Several stacks on a thread need the order of time. */
static bool call_scan_needs_order(const struct calls_source *source, unsigned jobs, void *const *contexts)
{
    struct call_scan seek = { .source = source, .seeks_switches = true };
    if (source->profile->counts.switches || source->file->process_count > MAX_SCANNED_COSTS / 8)
        return true;
    if (selection_has_ranges(source->selection)) /* the profile has not counted those outside of the ranges */
        call_scan_run(&seek, jobs, contexts);
    free(seek.order);
    return seek.has_switches;
}

/* `joined` is the context for calls of several chunks. */
static void call_scan_chunks(struct call_scan *scan, uint32_t function, unsigned jobs, void *const *contexts,
                             void *joined)
{
    const struct calls_source *source = scan->source;
    const size_t chunks = source->file->chunk_count;
    scan->probes = calls_probes(source);
    scan->ranges = selection_has_ranges(source->selection);
    if (scan->ranges)
        path_probes_drop_rests(&scan->probes);
    scan->parts = need_memory(chunks, sizeof *scan->parts);
    call_scan_find_paths(scan, function);
    call_scan_run(scan, jobs, contexts);
    call_parts_join(source->file, scan->parts, scan->order, call_scan_take_joined,
                    &(struct call_scan_joined){ scan, joined });
    for (size_t i = 0; i < chunks; i++)
        free(scan->parts[i].calls);
    free(scan->parts);
    free(scan->order);
    free(scan->paths);
    free(scan->steps);
    free(scan->costs);
    free(scan->probes.paths);
}

void calls_scan(const struct calls_source *source, uint32_t function, unsigned jobs, call_scan_taker *take,
                void *const *contexts)
{
    if (call_scan_needs_order(source, jobs, contexts))
        call_scan_in_order(source, function, take, contexts[0]);
    else
        call_scan_chunks(&(struct call_scan){ .source = source, .take = take }, function, jobs, contexts, contexts[0]);
}

/* ---- elapsed inclusive times ---- */

struct call_scan_amounts {
    call_amounts_taker *take;
    void *context;
};

static void call_scan_take_amount(void *context, const struct finished_call *call)
{
    const struct call_scan_amounts *amounts = context;
    amounts->take(amounts->context,
                  &(struct call_amount){ call->times[CALL_ELAPSED_INCLUSIVE], call->end, call->path, call->function },
                  1);
}

void calls_scan_elapsed(const struct calls_source *source, uint32_t function, unsigned jobs, call_amounts_taker *take,
                        void *const *contexts)
{
    struct call_scan_amounts one = { take, contexts[0] };
    if (call_scan_needs_order(source, jobs, contexts))
        call_scan_in_order(source, function, call_scan_take_amount, &one);
    else
        call_scan_chunks(&(struct call_scan){ .source = source, .take = call_scan_take_amount, .take_amounts = take },
                         function, jobs, contexts, &one);
}
