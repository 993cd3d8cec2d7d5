/* Reads the threads of a session, in stretches that workers take one by one, and adds up the calls of one function by
 * call path and by what their time was. */
#include "causes/why_scan.h"

#include <stdlib.h>

#include "analysis/single_calls.h"
#include "base/progress.h"
#include "causes/why_worker.h"

/* ---- chunks ---- */

/* Whether a call of the function is open as the chunk begins. */
static bool why_is_inside(struct why_worker *w, const struct trace_chunk *chunk)
{
    struct decoder d;
    if (!window_begin(&w->window, w->job->file, chunk, &d))
        return false;
    for (uint32_t i = 0; i < chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(chunk, w->window.buffer, i);
        const uint64_t key = why_key(w, frame.function, frame.enter_time);
        if (why_is_function(w, frame.function, frame.enter_time, key))
            return true;
    }
    return false;
}

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
    const bool follows = w->chunk && w->chunk->sequence + 1 == chunk->sequence, rows = w->job->plan->waits;
    const size_t known = w->open && !rows ? w->open : w->depth;
    size_t same = 0;
    while (follows && same < known && same < chunk->depth &&
           stack_frame(chunk, w->window.buffer, (uint32_t)same).function == w->stack[same].function)
        same++;
    if (w->open > same && why_goes_on(w, chunk))
        why_close(w);
    else if (w->open > same)
        why_lose(w, chunk->start_time);
    w->depth = same;
    w->excluded += chunk->start_time - w->last;
    w->chunk = chunk;
    for (uint32_t i = (uint32_t)same; i < chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(chunk, w->window.buffer, i);
        (rows ? why_rows_open : why_times_open)(w, frame.function, frame.enter_time);
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
        (w->job->plan->waits ? why_rows_events : why_times_events)(w, &state, &d);
    while (window_more(&w->window, &d));
    w->last = state.last;
}

/* ---- stretches of threads ---- */

static void why_begin_segment(struct why_worker *w, struct why_segment *segment, const struct trace_chunk *first)
{
    const struct why_plan *plan = w->job->plan;
    const struct trace_process *process = session_file_process(w->job->file, first->process);
    if (process != w->process) {
        index_clear(w->children);
        index_clear(w->functions);
    }
    w->process = process;
    w->segment = segment;
    w->thread = first->thread;
    w->cpus = why_cpus_begin();
    w->probes = (struct dwell_rec_probes){ 0 };
    if (process && process->probes.rounds && !plan->loaded->summary.raw)
        w->probes = process->probes;
    generations_begin(&w->generations, process);
    w->depth = 0;
    w->chunk = NULL;
    w->last = 0;
}

/* Whether the part ends before the chunk. The calls that are open end later than it. */
static bool why_is_late(const struct why_worker *w, const struct trace_chunk *chunk)
{
    const struct selection *selection = w->job->plan->loaded->selection;
    return selection && selection->cut && chunk->start_time >= selection->to;
}

/* The first chunk that is read, or the end. */
static size_t why_seek_chunk(struct why_worker *w, const struct why_segment *segment)
{
    for (size_t i = segment->first; i < segment->end; i++) {
        const struct trace_chunk *chunk = &w->job->file->chunks[w->job->segments.order[i]];
        if (chunk->kind != DWELL_CHUNK_EVENTS)
            continue;
        if (segment->begins || why_is_late(w, chunk) || !why_is_inside(w, chunk))
            return i;
    }
    return segment->thread_end;
}

/* A call is still open where the next stretch begins: its end is missing. */
static void why_end_before(struct why_worker *w, const struct trace_chunk *chunk)
{
    struct decoder d;
    if (w->open && window_begin(&w->window, w->job->file, chunk, &d))
        why_lose(w, chunk->start_time);
    else if (w->open)
        why_close(w);
}

static void why_read_chunks(struct why_worker *w, const struct why_segment *segment)
{
    for (size_t i = why_seek_chunk(w, segment); i < segment->thread_end; i++) {
        const struct trace_chunk *chunk = &w->job->file->chunks[w->job->segments.order[i]];
        if (chunk->kind != DWELL_CHUNK_EVENTS)
            continue;
        if (why_is_late(w, chunk)) {
            why_close(w);
            return;
        }
        if (i >= segment->end && !why_is_inside(w, chunk)) {
            why_end_before(w, chunk);
            return;
        }
        if (!w->chunk && w->job->plan->waits)
            w->next_wait = why_waits_seek(w->job->plan->waits, chunk->thread, chunk->start_time);
        why_samples_begin_chunk(w, chunk);
        why_read_chunk(w, chunk);
    }
    if (w->open)
        why_lose(w, w->last);
}

static void why_read_segment(struct why_worker *w, struct why_segment *segment)
{
    const struct session_file *file = w->job->file;
    const struct trace_chunk *first = &file->chunks[w->job->segments.order[segment->first]];
    if (!selection_takes(w->job->plan->loaded->selection, file, first->process, first->thread))
        return;
    why_begin_segment(w, segment, first);
    why_read_chunks(w, segment);
    segment->cpus = w->cpus;
    progress_add(segment->end - segment->first);
}

static void *why_work(void *argument)
{
    struct why_worker *w = argument;
    struct why_job *job = w->job;
    for (;;) {
        const size_t i = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
        if (i >= job->segments.count)
            return NULL;
        why_read_segment(w, &job->segments.list[i]);
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
    w->known_stacks = index_new();
    why_add_row(w, PROFILE_NONE, WHY_PROBE, 0);
    why_add_row(w, PROFILE_NONE, WHY_RUNNABLE, 0);
}

static void why_worker_end(struct why_worker *w)
{
    profile_free(w->known);
    index_free(w->children);
    index_free(w->functions);
    index_free(w->wait_rows);
    index_free(w->known_stacks);
    free(w->stacks);
    window_free(&w->window);
    free(w->now);
    free(w->listed);
    free(w->first_rows);
    free(w->stack);
}

struct why_found why_scan(const struct why_plan *plan)
{
    const unsigned jobs = analysis_jobs(plan->loaded);
    struct why_job job = { .plan = plan, .file = plan->loaded->file };
    struct why_worker *workers = need_memory(jobs, sizeof *workers);
    bool *started = need_memory(jobs, sizeof *started);
    job.segments = why_segments_find(job.file);
    why_samples_begin(&job);
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
    if (plan->waits)
        why_segments_join(&job.segments, job.file, plan->session, &found);
    why_found_sort(&found);
    why_segments_drop(&job.segments);
    free(job.timed);
    index_free(rows);
    free(started);
    free(workers);
    return found;
}
