/* Reads the threads of a session, one worker each at a time, and adds up the calls of one function by call path and by
 * what their time was. */
#include "causes/why_scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/single_calls.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/units.h"
#include "causes/why_cpus.h"
#include "causes/why_random.h"
#include "profile/durations.h"
#include "profile/generations.h"
#include "profile/identify.h"
#include "profile/interval.h"
#include "trace/chunk_order.h"
#include "trace/chunk_window.h"
#include "trace/stack.h"

/* The first rows of each worker are of the whole function. Each path has two rows that follow each other. */
enum { ROW_PROBE, ROW_RUNNABLE, COMMON_ROWS, PATH_CPU = 0, PATH_FAULT, PATH_ROWS };

struct why_now {
    uint64_t ticks, count, charge;
    bool listed;
};

struct why_frame {
    uint64_t function; /* address */
    uint32_t node;     /* PROFILE_NONE outside of the function */
    bool called;       /* it has made a call */
};

/* What the workers share. */
struct why_job {
    const struct why_plan *plan;
    const struct session_file *file;
    uint32_t *order; /* chunks by thread */
    size_t *threads; /* places in the order where threads begin, and its end */
    size_t thread_count, next;
};

struct why_worker {
    struct why_job *job;
    void *context;
    struct why_found found;
    struct why_now *now; /* by row: of the open call */
    size_t now_room;
    uint32_t *listed; /* the rows that have something */
    size_t listed_count, listed_room;
    uint32_t *first_rows; /* by node */
    size_t first_room;
    struct number_index *children;  /* (address and generation, parent) -> node */
    struct number_index *functions; /* (address and generation) -> whether it is the function */
    struct number_index *wait_rows; /* (node, wait and kind) -> row */
    struct profile *known;          /* functions that were looked up */
    uint32_t root;                  /* of the paths */
    struct chunk_window window;
    struct why_frame *stack;
    size_t depth, room;
    size_t open;       /* depth of the stack with the outermost call of the function; zero if none is open */
    bool whole;        /* this call has been recorded as a whole so far */
    bool may_be_first; /* the thread has had no call of the function yet */
    uint64_t begin, duration;
    size_t next_wait;
    const struct trace_chunk *chunk; /* the last one that was read; NULL if none was */
    uint64_t last;                   /* when that chunk ended */
    uint32_t thread;                 /* serial number */
    const struct trace_process *process;
    struct why_cpus cpus;
    struct dwell_rec_probes probes;
    struct generations generations;
    pthread_t pthread;
};

/* ---- rows ---- */

static uint32_t why_add_row(struct why_worker *w, uint32_t node, enum why_kind kind, uint32_t wait)
{
    struct why_found *f = &w->found;
    GROW(f->rows, f->row_count, f->row_room);
    f->rows[f->row_count] = (struct why_row){ .node = node, .kind = kind, .wait = wait };
    GROW(w->now, f->row_count, w->now_room);
    w->now[f->row_count] = (struct why_now){ 0 };
    return (uint32_t)f->row_count++;
}

STACK_INLINE struct why_now *why_touch(struct why_worker *w, uint32_t row)
{
    struct why_now *now = &w->now[row];
    if (__builtin_expect(!now->listed, 0)) {
        now->listed = true;
        GROW(w->listed, w->listed_count, w->listed_room);
        w->listed[w->listed_count++] = row;
    }
    return now;
}

static enum why_kind why_kind_of_wait(const struct why_wait *wait)
{
    if (strcmp(wait->kind, "file") == 0)
        return WHY_FILE;
    return strcmp(wait->kind, "fault") == 0 ? WHY_FAULT : WHY_BLOCKED;
}

/* `wait`: 1 + its number, or zero. */
static void why_add_blocked(struct why_worker *w, uint32_t node, uint32_t wait, uint64_t ticks)
{
    const uint64_t key = (uint64_t)node << 32 | wait;
    struct index_slot *slot = index_find(w->wait_rows, key, 0);
    if (!slot->value_plus_1) {
        const enum why_kind kind = wait ? why_kind_of_wait(&w->job->plan->waits->list[wait - 1]) : WHY_BLOCKED;
        index_set(w->wait_rows, slot, key, 0, why_add_row(w, node, kind, wait));
        slot = index_find(w->wait_rows, key, 0);
    }
    struct why_now *now = why_touch(w, slot->value_plus_1 - 1);
    now->ticks += ticks;
    now->count++;
}

/* ---- functions and paths ---- */

static bool why_is_function(struct why_worker *w, uint64_t address, uint64_t time, uint64_t key)
{
    struct index_slot *slot = index_find(w->functions, key, 0);
    if (!slot->value_plus_1) {
        const struct why_plan *plan = w->job->plan;
        const uint32_t known = identify_function(w->known, w->process, address, time);
        const bool is = profile_find_same_function(plan->loaded->profile, w->known, known) == plan->function;
        index_set(w->functions, slot, key, 0, is);
        return is;
    }
    return slot->value_plus_1 - 1;
}

static uint32_t why_child(struct why_worker *w, uint32_t parent, uint64_t address, uint64_t time, uint64_t key)
{
    struct index_slot *slot = index_find(w->children, key, parent);
    if (__builtin_expect(slot->value_plus_1 != 0, 1))
        return slot->value_plus_1 - 1;
    struct profile *p = w->found.paths;
    const size_t before = p->node_count;
    const uint32_t node = profile_child(p, parent, identify_function(p, w->process, address, time));
    index_set(w->children, slot, key, parent, node);
    if (p->node_count == before)
        return node; /* it is known by another address, as in another process */
    while (w->first_room <= node) {
        size_t count = w->first_room;
        GROW(w->first_rows, count, w->first_room);
    }
    w->first_rows[node] = why_add_row(w, node, WHY_CPU, 0);
    why_add_row(w, node, WHY_FAULT, 0);
    return node;
}

/* ---- calls of the function ---- */

static void why_close(struct why_worker *w)
{
    for (size_t i = 0; i < w->listed_count; i++)
        w->now[w->listed[i]] = (struct why_now){ 0 };
    w->listed_count = 0;
    w->open = 0;
    w->cpus.moved = false;
}

/* It ends, or nothing is known of its end. */
static void why_lose(struct why_worker *w, uint64_t now)
{
    if (selection_holds_on(w->job->plan->loaded->selection, w->thread, now))
        w->found.cut++;
    why_close(w);
}

/* Whether the call is one of those that are kept as samples: the answer depends only on the call. */
static bool why_is_sampled(const struct why_worker *w, const struct why_call *call, unsigned set)
{
    const uint64_t mixed = why_mix(call->begin ^ (uint64_t)call->thread << 40);
    return (double)(mixed >> 11) < w->job->plan->sampled[set] * (double)(UINT64_C(1) << 53);
}

static void why_add_call(struct why_worker *w, const struct why_call *call, unsigned set)
{
    struct why_found *f = &w->found;
    const bool sampled = why_is_sampled(w, call, set);
    const size_t first = f->value_count;
    for (size_t i = 0; i < w->listed_count; i++) {
        const struct why_now *now = &w->now[w->listed[i]];
        struct why_sum *sum = &f->rows[w->listed[i]].sets[set];
        const int64_t ticks = (int64_t)now->ticks - (int64_t)(now->charge / DWELL_PROBE_FRACTION);
        sum->ticks += now->ticks;
        sum->count += now->count;
        sum->charge += now->charge;
        sum->squares += (uint128)((int128)ticks * ticks);
        if (!sampled)
            continue;
        GROW(f->values, f->value_count, f->value_room);
        f->values[f->value_count++] = (struct why_value){ w->listed[i], (double)ticks };
    }
    f->calls[set]++;
    if (!sampled)
        return;
    GROW(f->sampled, f->sampled_count, f->sampled_room);
    f->sampled[f->sampled_count++] = (struct why_sampled){ call->thread,  call->begin, call->end,
                                                           set,           w->cpus.now, w->cpus.moved,
                                                           call->session, first,       f->value_count - first };
}

static void why_end_call(struct why_worker *w, uint64_t now)
{
    const struct why_plan *plan = w->job->plan;
    const uint64_t duration = plan->rate ? ticks_to_ns(w->duration, plan->rate) : w->duration;
    const struct why_call call = { w->thread, w->begin, now, duration, plan->session };
    if (!w->whole) {
        why_lose(w, now);
        return;
    }
    if (selection_holds_on(plan->loaded->selection, call.thread, now)) {
        const unsigned set = plan->choose(w->context, &call);
        if (plan->waits && set < WHY_SETS)
            why_add_call(w, &call, set);
    }
    why_close(w);
}

static void why_begin_call(struct why_worker *w, uint64_t now, bool whole)
{
    w->open = w->depth;
    w->whole = whole;
    w->begin = now;
    w->duration = 0;
    if (!w->may_be_first)
        return;
    w->may_be_first = false;
    GROW(w->found.firsts, w->found.first_count, w->found.first_room);
    w->found.firsts[w->found.first_count++] =
        (struct why_first){ w->chunk->process, w->thread, now, w->job->plan->session };
}

/* ---- actions on events ---- */

static inline size_t why_depth(const void *to)
{
    const struct why_worker *w = to;
    return w->depth;
}

/* The parts of an interval with events of the system. */
static void why_add_parts(struct why_worker *w, uint32_t node, const struct decoded_extras *extras, uint64_t begin,
                          uint64_t end)
{
    const struct why_waits *waits = w->job->plan->waits;
    const struct interval_parts p = interval_parts(extras, end - begin);
    uint64_t blocked = p.blocked;
    for (; w->next_wait < waits->interval_count; w->next_wait++) {
        const struct why_interval *i = &waits->intervals[w->next_wait];
        if (i->thread > w->thread || (i->thread == w->thread && i->begin > begin))
            break;
        if (i->thread != w->thread || i->begin != begin || i->end != end || !blocked)
            continue;
        const uint64_t ticks = smaller(i->ticks, blocked);
        why_add_blocked(w, node, 1 + i->wait, ticks);
        blocked -= ticks;
    }
    if (blocked)
        why_add_blocked(w, node, 0, blocked);
    if (p.preempted) {
        struct why_now *runnable = why_touch(w, ROW_RUNNABLE);
        runnable->ticks += p.preempted;
        runnable->count++;
    }
    const bool raw = w->job->plan->loaded->summary.raw;
    const uint64_t ran = end - begin - p.blocked - p.preempted, own = raw ? 0 : smaller(p.runtime, ran);
    if (own)
        why_touch(w, ROW_PROBE)->ticks += own;
    const bool faults = extras->page_faults && (ran - own) / extras->page_faults <= w->job->plan->fault_ticks;
    struct why_now *now = why_touch(w, w->first_rows[node] + (faults ? PATH_FAULT : PATH_CPU));
    now->ticks += ran - own;
    now->count += faults ? extras->page_faults : 0;
}

/* What page faults cost on this machine shows where there are many of them. */
static void why_note_faults(struct why_worker *w, const struct decoded_extras *extras, uint64_t length)
{
    enum { MANY = 8 };
    const struct interval_parts p = interval_parts(extras, length);
    if (extras->page_faults >= MANY)
        durations_add(&w->found.faults, less(length - p.blocked - p.preempted, p.runtime) / extras->page_faults, 1, 0);
}

static inline void why_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct why_worker *w = to;
    if (__builtin_expect(d->has_extras, 0))
        why_cpus_note(&w->cpus, &d->extras);
    if (!w->open)
        return;
    w->duration += d->time - begin;
    if (!w->job->plan->waits) {
        if (__builtin_expect(d->has_extras, 0))
            why_note_faults(w, &d->extras, d->time - begin);
        return;
    }
    const uint32_t node = w->stack[w->depth - 1].node;
    if (__builtin_expect(d->has_extras, 0)) {
        const struct decoded_extras extras = d->extras;
        why_add_parts(w, node, &extras, begin, d->time);
    } else {
        why_touch(w, w->first_rows[node])->ticks += d->time - begin;
    }
}

static inline void why_skip(void *to, const struct decoder *d, uint64_t begin)
{
    (void)to;
    (void)d;
    (void)begin;
}

static inline void why_delay(void *to, uint64_t ticks)
{
    (void)to;
    (void)ticks;
}

/* Opens a call on top of the others. `entered`: its enter is recorded. */
STACK_INLINE void why_push(struct why_worker *w, uint64_t address, uint64_t time, bool entered)
{
    if (__builtin_expect(time >= w->generations.next_at || time < w->generations.begin_at, 0))
        generations_find(&w->generations, time);
    const uint64_t key = generations_address(&w->generations, address);
    const bool begins = !w->open && why_is_function(w, address, time, key), rows = w->job->plan->waits;
    if (__builtin_expect(w->depth == w->room, 0))
        GROW(w->stack, w->depth, w->room);
    struct why_frame *frame = &w->stack[w->depth++];
    *frame = (struct why_frame){ .function = address, .node = PROFILE_NONE };
    if (begins)
        why_begin_call(w, time, entered);
    if (!w->open || !rows)
        return;
    frame->node = why_child(w, begins ? w->root : frame[-1].node, address, time, key);
    if (!entered)
        return;
    struct why_now *now = why_touch(w, w->first_rows[frame->node]);
    now->count++;
    now->charge += w->probes.in_callee;
    if (begins)
        return;
    why_touch(w, w->first_rows[frame[-1].node])->charge +=
        w->probes.in_caller + (frame[-1].called ? 0 : w->probes.first_callee);
    frame[-1].called = true;
}

static inline void why_enter(void *to, const struct decoder *d)
{
    why_push(to, d->function, d->time, true);
}

static inline void why_exit(void *to, const struct decoder *d)
{
    struct why_worker *w = to;
    if (w->depth-- == w->open)
        why_end_call(w, d->time);
}

/* At an unknown time in a pause. */
static inline void why_ended(void *to, const struct decoder *d)
{
    struct why_worker *w = to;
    if (w->depth-- == w->open)
        why_lose(w, d->time);
}

static inline void why_nothing(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

/* The call goes on later, perhaps on another thread. It is found open then, and not whole. */
static inline void why_set_aside(void *to, const struct decoder *d)
{
    struct why_worker *w = to;
    (void)d;
    w->depth = 0;
    why_close(w);
}

static inline void why_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    (void)site;
    why_push(to, frame->function, d->time, false);
}

static void why_events(struct why_worker *w, struct stack_state *state, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = why_depth,
        .interval = why_interval,
        .skip = why_skip,
        .delay = why_delay,
        .enter = why_enter,
        .exit = why_exit,
        .left = why_exit,
        .ended = why_ended,
        .stray_exit = why_nothing,
        .set_aside = why_set_aside,
        .open = why_open,
        .pause = why_nothing,
        .resume = why_nothing,
        .mark = why_nothing,
    };
    stack_apply_all(&actions, w, state, d);
}

/* ---- chunks ---- */

/* Whether the open call of the function goes on in a chunk, which does not follow the last one. */
static bool why_goes_on(const struct why_worker *w, const struct trace_chunk *chunk)
{
    if (w->open > chunk->depth)
        return false;
    const struct dwell_frame frame = stack_frame(chunk, w->window.buffer, (uint32_t)w->open - 1);
    return frame.function == w->stack[w->open - 1].function && frame.enter_time == w->begin;
}

/* Makes the stack that of the chunk's beginning. Calls go on as whole ones only if nothing is missing before it. */
static void why_open_frames(struct why_worker *w, const struct trace_chunk *chunk)
{
    const bool follows = w->chunk && w->chunk->sequence + 1 == chunk->sequence;
    size_t same = 0;
    while (follows && same < w->depth && same < chunk->depth &&
           stack_frame(chunk, w->window.buffer, (uint32_t)same).function == w->stack[same].function)
        same++;
    if (w->open > same && why_goes_on(w, chunk))
        why_close(w);
    else if (w->open > same)
        why_lose(w, chunk->start_time);
    w->depth = same;
    w->chunk = chunk;
    for (uint32_t i = (uint32_t)same; i < chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(chunk, w->window.buffer, i);
        why_push(w, frame.function, frame.enter_time, false);
    }
}

static void why_read_chunk(struct why_worker *w, const struct trace_chunk *chunk)
{
    struct stack_state state;
    struct decoder d;
    if (!window_begin(&w->window, w->job->file, chunk, &d)) {
        why_close(w);
        w->depth = 0;
        return;
    }
    stack_begin(&state, chunk);
    why_open_frames(w, chunk);
    do
        why_events(w, &state, &d);
    while (window_more(&w->window, &d));
    w->last = state.last;
}

static void why_begin_thread(struct why_worker *w, const struct trace_chunk *first)
{
    const struct session_file *file = w->job->file;
    const struct trace_process *process = session_file_process(file, first->process);
    if (process != w->process) {
        index_clear(w->children);
        index_clear(w->functions);
    }
    w->process = process;
    w->thread = first->thread;
    w->cpus = (struct why_cpus){ 0 };
    w->probes = (struct dwell_rec_probes){ 0 };
    if (process && process->probes.rounds && !w->job->plan->loaded->summary.raw)
        w->probes = process->probes;
    generations_begin(&w->generations, process);
    w->depth = 0;
    w->chunk = NULL;
    w->may_be_first = w->job->plan->waits && first->sequence == 0;
    w->next_wait = w->job->plan->waits ? why_waits_seek(w->job->plan->waits, first->thread, 0) : 0;
}

static void why_read_thread(struct why_worker *w, const uint32_t *chunks, size_t count)
{
    const struct session_file *file = w->job->file;
    const struct selection *selection = w->job->plan->loaded->selection;
    for (; count && file->chunks[chunks[0]].kind != DWELL_CHUNK_EVENTS; count--)
        chunks++;
    if (!count || !selection_takes(selection, file, file->chunks[chunks[0]].process, file->chunks[chunks[0]].thread))
        return;
    why_begin_thread(w, &file->chunks[chunks[0]]);
    for (size_t i = 0; i < count; i++) {
        const struct trace_chunk *chunk = &file->chunks[chunks[i]];
        if (selection && selection->cut && chunk->start_time >= selection->to) {
            why_close(w); /* it ends later than the part */
            break;
        }
        if (chunk->kind == DWELL_CHUNK_EVENTS)
            why_read_chunk(w, chunk);
        progress_add(1);
    }
    if (w->open)
        why_lose(w, w->last);
}

static void *why_work(void *argument)
{
    struct why_worker *w = argument;
    struct why_job *job = w->job;
    for (;;) {
        const size_t i = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
        if (i >= job->thread_count)
            return NULL;
        why_read_thread(w, job->order + job->threads[i], job->threads[i + 1] - job->threads[i]);
    }
}

/* ---- workers ---- */

static void why_worker_begin(struct why_worker *w, struct why_job *job, void *context)
{
    *w = (struct why_worker){ .job = job, .context = context };
    w->found.paths = profile_new();
    w->known = profile_new();
    w->root = profile_root(w->found.paths, 0, 0);
    w->children = index_new();
    w->functions = index_new();
    w->wait_rows = index_new();
    why_add_row(w, PROFILE_NONE, WHY_PROBE, 0);
    why_add_row(w, PROFILE_NONE, WHY_RUNNABLE, 0);
}

static void why_worker_end(struct why_worker *w)
{
    profile_free(w->known);
    index_free(w->children);
    index_free(w->functions);
    index_free(w->wait_rows);
    window_free(&w->window);
    free(w->now);
    free(w->listed);
    free(w->first_rows);
    free(w->stack);
}

static void why_find_threads(struct why_job *job)
{
    const struct session_file *file = job->file;
    job->order = chunk_order_by_thread(file);
    job->threads = need_memory(file->chunk_count + 1, sizeof *job->threads);
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[job->order[i]];
        const struct trace_chunk *before = i ? &file->chunks[job->order[i - 1]] : NULL;
        if (!before || before->thread != chunk->thread || before->process != chunk->process)
            job->threads[job->thread_count++] = i;
    }
    job->threads[job->thread_count] = file->chunk_count;
}

struct why_found why_scan(const struct why_plan *plan)
{
    const unsigned jobs = analysis_jobs(plan->loaded);
    struct why_job job = { .plan = plan, .file = plan->loaded->file };
    struct why_worker *workers = need_memory(jobs, sizeof *workers);
    bool *started = need_memory(jobs, sizeof *started);
    why_find_threads(&job);
    progress_begin("comparing", job.file->path, job.file->chunk_count);
    for (unsigned i = jobs; i-- > 0;) {
        why_worker_begin(&workers[i], &job, plan->contexts[i]);
        started[i] = i && pthread_create(&workers[i].pthread, NULL, why_work, &workers[i]) == 0;
    }
    why_work(&workers[0]);
    struct why_found found = { .paths = profile_new() };
    struct number_index *rows = index_new();
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(workers[i].pthread, NULL);
        why_found_move(&found, rows, &workers[i].found);
        why_worker_end(&workers[i]);
    }
    progress_end();
    why_found_sort(&found);
    index_free(rows);
    free(started);
    free(workers);
    free(job.order);
    free(job.threads);
    return found;
}
