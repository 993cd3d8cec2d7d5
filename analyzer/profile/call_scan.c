/* Finds single calls: workers read one chunk after the other. Calls that lie in one chunk are passed on at once. The
 * parts of the others are joined at the end. */
#include "profile/call_scan.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/progress.h"
#include "profile/call_parts.h"
#include "profile/generations.h"
#include "profile/identify.h"
#include "trace/chunk_window.h"
#include "trace/stack.h"

/* A path of the table of path_probes.h. */
struct scanned_path {
    uint32_t number; /* of its function in calls */
    uint32_t caller; /* number of the caller's function */
    bool within, wanted;
};

/* What the workers share. */
struct call_scan {
    const struct calls_source *source;
    struct path_probes_table probes;
    struct scanned_path *paths;
    struct chunk_parts *parts; /* by chunk */
    size_t next_chunk;
    call_scan_taker *take;
};

struct scanned_call {
    struct path_probes *probes;
    struct call_amounts own, below;
    uint64_t enter_time, begin;
    uint64_t function; /* address */
    uint32_t path;
    bool entered; /* in this chunk */
};

struct call_scanner {
    struct call_scan *scan;
    void *context;
    struct number_index *children; /* (address and generation, path) -> path */
    struct chunk_window window;
    struct scanned_call *stack; /* stack[0] is the thread's root */
    size_t depth, room;
    const struct trace_chunk *chunk;
    const struct trace_process *process;
    struct generations generations;
    uint64_t index; /* of the chunk */
    uint64_t delay;
    struct call_part *ended; /* calls that were open at the beginning, innermost first */
    size_t ended_count, ended_room, inherited;
    pthread_t thread;
};

static struct path_probes call_scan_no_probes = { .first = UINT64_MAX }; /* of a thread's root */

/* ---- paths ---- */

static uint32_t call_scan_unknown_path(const struct call_scan *scan)
{
    return (uint32_t)(scan->probes.known + scan->source->file->thread_count);
}

__attribute__((noinline)) static uint32_t call_scan_add_path(const struct call_scanner *s, uint32_t parent,
                                                             uint64_t address, uint64_t time, struct index_slot *slot)
{
    const struct profile *profile = s->scan->source->profile;
    const uint32_t function = find_function(profile, s->process, address, time);
    uint32_t path = parent >= s->scan->probes.known || function == PROFILE_NONE
                        ? PROFILE_NONE
                        : profile_find_child(profile, parent, function);
    if (path == PROFILE_NONE)
        path = call_scan_unknown_path(s->scan);
    index_set(s->children, slot, address ^ (uint64_t)s->generations.current << 48, parent, path);
    return path;
}

static inline uint32_t call_scan_find_path(const struct call_scanner *s, uint32_t parent, uint64_t address,
                                           uint64_t time)
{
    const uint64_t key = address ^ (uint64_t)s->generations.current << 48;
    struct index_slot *slot = index_find(s->children, key, parent);
    if (__builtin_expect(slot->value_plus_1 != 0, 1))
        return slot->value_plus_1 - 1;
    return call_scan_add_path(s, parent, address, time, slot);
}

static inline void call_scan_push(struct call_scanner *s, uint64_t address, uint64_t enter_time, uint64_t now,
                                  bool entered)
{
    if (__builtin_expect(s->depth == s->room, 0))
        GROW(s->stack, s->depth, s->room);
    const uint32_t path = call_scan_find_path(s, s->stack[s->depth - 1].path, address, now);
    struct scanned_call *call = &s->stack[s->depth++];
    call->probes = &s->scan->probes.paths[path];
    call->own = call->below = (struct call_amounts){ 0, 0, 0 };
    call->enter_time = call->begin = enter_time;
    call->function = address;
    call->path = path;
    call->entered = entered;
    /* The path's first chunk is read by one worker only. */
    if (__builtin_expect(call->probes->first == s->index, 0) && call->probes->rest) {
        call_amounts_charge(&call->own, call->probes, -call->probes->rest);
        call->probes->rest = 0;
    }
}

/* ---- calls ---- */

static struct finished_call call_scan_finished(const struct call_scan *scan, const struct trace_chunk *chunk,
                                               const struct call_amounts *own, const struct call_amounts *below,
                                               uint32_t path)
{
    return (struct finished_call){
        .function = scan->paths[path].number,
        .caller = scan->paths[path].caller,
        .path = path,
        .process = chunk->process,
        .thread = chunk->thread,
        .times = {
            [CALL_ELAPSED_INCLUSIVE] = own->elapsed + below->elapsed,
            [CALL_ELAPSED_EXCLUSIVE] = own->elapsed,
            [CALL_APPLICATION_INCLUSIVE] = own->application + below->application,
            [CALL_APPLICATION_EXCLUSIVE] = own->application,
        },
        .blocked = own->blocked + below->blocked,
        .completed = true,
    };
}

__attribute__((noinline)) static void call_scan_keep_part(struct call_scanner *s, const struct scanned_call *call,
                                                          uint64_t now, bool ended)
{
    GROW(s->ended, s->ended_count, s->ended_room);
    s->ended[s->ended_count++] = (struct call_part){
        .function = call->function,
        .enter_time = call->begin,
        .end = now,
        .path = call->path,
        .ended = ended,
        .own = call->own,
        .below = call->below,
    };
}

static inline void call_scan_pop(struct call_scanner *s, uint64_t now, bool ended)
{
    const struct scanned_call *call = &s->stack[--s->depth];
    struct scanned_call *caller = &s->stack[s->depth - 1];
    call_amounts_add(&caller->below, &call->own);
    call_amounts_add(&caller->below, &call->below);
    if (__builtin_expect(!call->entered, 0)) {
        if (s->depth <= s->inherited - s->ended_count) /* else it was found open after a pause */
            call_scan_keep_part(s, call, now, ended);
    } else if (ended && s->scan->paths[call->path].wanted) {
        struct finished_call finished = call_scan_finished(s->scan, s->chunk, &call->own, &call->below, call->path);
        finished.begin = call->begin;
        finished.end = now;
        s->scan->take(s->context, &finished);
    }
}

/* ---- actions on events ---- */

static inline size_t call_scan_depth(const void *to)
{
    return ((const struct call_scanner *)to)->depth - 1;
}

static inline void call_scan_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct call_scanner *s = to;
    struct scanned_call *top = &s->stack[s->depth - 1];
    if (__builtin_expect(d->has_extras, 0))
        call_amounts_add_interval(&top->own, top->probes, &d->extras, d->time - begin);
    else
        call_amounts_add_plain(&top->own, top->probes, d->time - begin);
}

static inline void call_scan_skip(void *to, const struct decoder *d, uint64_t begin)
{
    (void)to;
    (void)d;
    (void)begin;
}

static inline void call_scan_delay(void *to, uint64_t ticks)
{
    struct call_scanner *s = to;
    for (size_t i = 1; i < s->depth; i++)
        s->stack[i].enter_time += ticks;
    s->delay += ticks;
}

static inline void call_scan_enter(void *to, const struct decoder *d)
{
    struct call_scanner *s = to;
    if (__builtin_expect(d->time >= s->generations.next_at, 0))
        generations_find(&s->generations, d->time);
    call_scan_push(s, d->function, d->time, d->time, true);
    struct scanned_call *call = &s->stack[s->depth - 1];
    call_amounts_charge(&call->own, call->probes, call->probes->call);
    call_amounts_charge(&call[-1].own, call[-1].probes, call[-1].probes->callee);
}

static inline void call_scan_exit(void *to, const struct decoder *d)
{
    call_scan_pop(to, d->time, true);
}

static inline void call_scan_lose(void *to, const struct decoder *d)
{
    call_scan_pop(to, d->time, false);
}

static inline void call_scan_ignore(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

/* Sessions with several stacks on a thread are not scanned. */
static inline void call_scan_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    (void)d;
    (void)site;
    call_scan_push(to, frame->function, frame->enter_time, frame->enter_time, false);
}

/* All that is called in the loop is compiled into it: so the decoder stays in registers. */
__attribute__((flatten)) static void call_scan_events(struct call_scanner *s, struct decoder *decoder,
                                                      struct stack_state *kept)
{
    static const struct stack_actions actions = {
        .depth = call_scan_depth,
        .interval = call_scan_interval,
        .skip = call_scan_skip,
        .delay = call_scan_delay,
        .enter = call_scan_enter,
        .exit = call_scan_exit,
        .left = call_scan_exit,
        .ended = call_scan_lose,
        .stray_exit = call_scan_ignore,
        .set_aside = call_scan_ignore,
        .open = call_scan_open,
        .pause = call_scan_ignore,
        .resume = call_scan_ignore,
        .mark = call_scan_ignore,
    };
    struct decoder d = *decoder; /* local copies, so that the compiler keeps them in registers */
    struct stack_state state = *kept;
    enum decoded event;
    while ((event = decode_next(&d)) != DECODED_END)
        stack_apply(&actions, s, &state, event, &d);
    *decoder = d;
    *kept = state;
}

/* ---- chunks ---- */

static void call_scan_open_frames(struct call_scanner *s)
{
    const struct calls_source *source = s->scan->source;
    const uint32_t root = profile_find_root(source->profile, s->chunk->process, s->chunk->thread);
    GROW(s->stack, s->depth, s->room);
    s->stack[0] = (struct scanned_call){ .probes = &call_scan_no_probes,
                                         .path = root == PROFILE_NONE ? call_scan_unknown_path(s->scan) : root };
    s->depth = 1;
    for (uint32_t i = 0; i < s->chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(s->chunk, s->window.buffer, i);
        generations_find(&s->generations, frame.enter_time);
        call_scan_push(s, frame.function, frame.enter_time, frame.enter_time, false);
    }
    generations_find(&s->generations, s->chunk->start_time);
    s->inherited = s->chunk->depth;
}

/* Adds what the open calls have so far to the calls below them, and lists the parts of all calls that are or were open
 * at a border of the chunk. */
static void call_scan_keep_open(struct call_scanner *s, struct chunk_parts *parts)
{
    const size_t kept = s->inherited - s->ended_count;
    parts->inherited = (uint32_t)s->inherited;
    parts->kept = (uint32_t)kept;
    parts->count = (uint32_t)(s->inherited + s->depth - 1 - kept);
    parts->calls = need_memory(parts->count, sizeof *parts->calls);
    for (size_t i = 0; i < s->ended_count; i++)
        parts->calls[s->inherited - 1 - i] = s->ended[i];
    for (size_t i = s->depth - 1; i > 0; i--) {
        const struct scanned_call *call = &s->stack[i];
        call_amounts_add(&s->stack[i - 1].below, &call->own);
        call_amounts_add(&s->stack[i - 1].below, &call->below);
        parts->calls[i - 1 < kept ? i - 1 : i - 1 + s->ended_count] = (struct call_part){
            .function = call->function,
            .enter_time = call->entered ? call->enter_time : call->begin,
            .begin = call->begin,
            .path = call->path,
            .entered = call->entered,
            .own = call->own,
            .below = call->below,
        };
    }
}

static void call_scan_chunk(struct call_scanner *s, const struct trace_chunk *chunk)
{
    struct chunk_parts *parts = &s->scan->parts[s->index];
    struct stack_state state;
    struct decoder d;
    if (!window_begin(&s->window, s->scan->source->file, chunk, &d))
        return;
    s->chunk = chunk;
    s->process = session_file_process(s->scan->source->file, chunk->process);
    s->depth = s->ended_count = 0;
    s->delay = 0;
    generations_begin(&s->generations, s->process);
    stack_begin(&state, chunk);
    call_scan_open_frames(s);
    do
        call_scan_events(s, &d, &state);
    while (window_more(&s->window, &d));
    call_scan_keep_open(s, parts);
    parts->delay = s->delay;
    parts->last = state.last;
    parts->paused = state.paused;
    parts->read = true;
}

static void *call_scan_work(void *argument)
{
    struct call_scanner *s = argument;
    const struct calls_source *source = s->scan->source;
    for (;;) {
        s->index = __atomic_fetch_add(&s->scan->next_chunk, 1, __ATOMIC_RELAXED);
        if (s->index >= source->file->chunk_count)
            return NULL;
        const struct trace_chunk *chunk = &source->file->chunks[s->index];
        if (chunk->kind == DWELL_CHUNK_EVENTS &&
            selection_takes(source->selection, source->file, chunk->process, chunk->thread))
            call_scan_chunk(s, chunk);
        progress_add(1);
    }
}

/* ---- the whole session ---- */

static void call_scan_find_paths(struct call_scan *scan, uint32_t function)
{
    const struct calls_source *source = scan->source;
    const struct profile *p = source->profile;
    scan->paths = need_memory(p->node_count + source->file->thread_count + 1, sizeof *scan->paths);
    for (size_t i = 0; i < p->node_count + source->file->thread_count + 1; i++) {
        struct scanned_path *path = &scan->paths[i];
        *path = (struct scanned_path){ .number = PROFILE_NONE, .caller = PROFILE_NONE };
        if (i >= p->node_count || p->nodes[i].parent == PROFILE_NONE)
            continue;
        const struct scanned_path *parent = &scan->paths[p->nodes[i].parent];
        path->number = source->functions ? source->functions[p->nodes[i].function] : p->nodes[i].function;
        path->caller = parent->number;
        path->within = parent->within || selection_is_root(source->selection, path->number);
        path->wanted = path->number != PROFILE_NONE && (function == PROFILE_NONE || function == path->number) &&
                       (path->within || !source->selection || !source->selection->roots);
    }
}

struct call_scan_joined {
    const struct call_scan *scan;
    void *context;
};

static bool call_scan_take_joined(void *context, const struct trace_chunk *chunk, const struct call_part *call,
                                  const struct call_part *caller)
{
    const struct call_scan_joined *joined = context;
    (void)caller;
    if (joined->scan->paths[call->path].wanted) {
        struct finished_call finished = call_scan_finished(joined->scan, chunk, &call->own, &call->below, call->path);
        finished.begin = call->begin;
        finished.end = call->end;
        joined->scan->take(joined->context, &finished);
    }
    return true;
}

static void call_scan_run(struct call_scan *scan, unsigned jobs, void *const *contexts)
{
    struct call_scanner *scanners = need_memory(jobs, sizeof *scanners);
    bool *started = need_memory(jobs, sizeof *started);
    progress_begin("following", scan->source->file->path, scan->source->file->chunk_count);
    for (unsigned i = jobs; i-- > 0;) {
        scanners[i] = (struct call_scanner){ .scan = scan, .context = contexts[i], .children = index_new() };
        started[i] = i && pthread_create(&scanners[i].thread, NULL, call_scan_work, &scanners[i]) == 0;
    }
    call_scan_work(&scanners[0]);
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(scanners[i].thread, NULL);
        index_free(scanners[i].children);
        window_free(&scanners[i].window);
        free(scanners[i].stack);
        free(scanners[i].ended);
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

void calls_scan(const struct calls_source *source, uint32_t function, unsigned jobs, call_scan_taker *take,
                void *const *contexts)
{
    const struct selection *selection = source->selection;
    /* Several stacks on a thread need the order of time. In a range of time, chunks before it were not profiled. */
    if (source->profile->counts.switches || (selection && (selection->cut || selection->within))) {
        calls_follow(source, call_scan_take_one, &(struct call_scan_one){ function, take, contexts[0] });
        return;
    }
    struct call_scan scan = { .source = source, .take = take };
    const size_t chunks = source->file->chunk_count;
    scan.probes = path_probes_of(source->profile, source->file, source->costs, source->cost_count);
    scan.parts = need_memory(chunks, sizeof *scan.parts);
    call_scan_find_paths(&scan, function);
    call_scan_run(&scan, jobs, contexts);
    call_parts_join(source->file, scan.parts, call_scan_take_joined, &(struct call_scan_joined){ &scan, contexts[0] });
    for (size_t i = 0; i < chunks; i++)
        free(scan.parts[i].calls);
    free(scan.parts);
    free(scan.paths);
    free(scan.probes.paths);
}
