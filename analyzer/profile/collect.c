/*
 * Makes the profile of a session. Each worker takes one chunk after another and adds it to its own profile. The
 * profiles are merged at the end.
 */
#include "profile/collect.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "profile/chunk_ends.h"
#include "profile/collector.h"
#include "profile/counted.h"
#include "profile/sampled_trees.h"
#include "profile/shared_callees.h"
#include "profile/subtree.h"
#include "profile/threads.h"
#include "profile/tree_sums.h"
#include "profile/trees.h"
#include "profile/waits.h"

struct collect_worker {
    struct collector collector;
    struct waits waits;
    const struct session_file *file;
    const struct selection *selection; /* NULL for the whole session */
    const uint64_t *ends;              /* by chunk: its end time; NULL if the selection has no limits in time */
    const uint32_t *order;             /* of the chunks: each path is found in its first chunk first */
    size_t *next_chunk;                /* in that order; shared by the workers */
    pthread_t thread;
};

static uint64_t collect_chunk_end(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only asked where there are limits
    return w->ends[chunk - w->file->chunks];
}

/* Whether the thread has a range in the chunk, or *whole: one that contains it. */
static bool collect_chunk_has_range(const struct collect_worker *w, const struct trace_chunk *chunk, bool *whole)
{
    const uint64_t begin = chunk->start_time, end = collect_chunk_end(w, chunk);
    size_t count;
    const struct thread_range *range = thread_ranges_of(w->selection->within, chunk->thread, &count);
    size_t low = 0, high = count;
    while (low < high) { /* the first range that ends after the chunk's begin */
        const size_t middle = low + (high - low) / 2;
        if (range[middle].end <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    *whole = low < count && range[low].begin <= begin && range[low].end > end;
    return low < count && range[low].begin <= end;
}

static bool collect_chunk_is_whole(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    bool whole;
    if (w->selection && w->selection->within)
        return collect_chunk_has_range(w, chunk, &whole) && whole;
    return !w->ends || (chunk->start_time >= w->selection->from && collect_chunk_end(w, chunk) < w->selection->to);
}

static bool collect_chunk_is_wanted(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    if (chunk->kind != DWELL_CHUNK_EVENTS || !selection_takes_chunk(w->selection, w->file, chunk) ||
        (w->ends && (chunk->start_time >= w->selection->to || collect_chunk_end(w, chunk) < w->selection->from)))
        return false;
    bool whole;
    if (w->selection && w->selection->within && !collect_chunk_has_range(w, chunk, &whole))
        return false;
    return selection_takes(w->selection, w->file, chunk->process, chunk->thread);
}

static void *collect_work_chunks(void *argument)
{
    struct collect_worker *w = argument;
    for (;;) {
        size_t i = __atomic_fetch_add(w->next_chunk, 1, __ATOMIC_RELAXED);
        if (i >= w->file->chunk_count)
            return NULL;
        const struct trace_chunk *chunk = &w->file->chunks[w->order[i]];
        w->collector.chunk_number = chunk->sequence;
        if (collect_chunk_is_wanted(w, chunk))
            collector_add_chunk(&w->collector, chunk, !w->waits.acts_only && collect_chunk_is_whole(w, chunk));
        progress_add(1);
    }
}

/* ---- workers ---- */

unsigned collect_default_jobs(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    return 1;
}

static void collect_merge_waits(struct waits *waits, struct profile *whole, struct collect_worker *w)
{
    uint32_t *nodes = profile_add_nodes(whole, w->collector.profile);
    waits_merge(waits, &w->waits, nodes);
    free(nodes);
}

static struct profile *collect_with_workers(const struct session_file *file, unsigned jobs,
                                            const struct selection *selection, bool sites, struct waits *waits)
{
    size_t next_chunk = 0;
    uint32_t *order = session_file_chunks_by_place(file);
    uint64_t *ends = selection && selection->cut ? chunk_ends(file) : NULL;
    struct collect_worker *workers = need_memory(jobs, sizeof *workers);
    bool *started = need_memory(jobs, sizeof *started);
    for (unsigned i = 0; i < jobs; i++) {
        workers[i] = (struct collect_worker){
            .file = file, .selection = selection, .ends = ends, .order = order, .next_chunk = &next_chunk
        };
        collector_begin(&workers[i].collector, file, selection, sites);
        if (waits) {
            workers[i].waits = *waits;
            workers[i].collector.waits = &workers[i].waits;
        }
    }
    progress_begin("reading", file->path, file->chunk_count);
    for (unsigned i = 1; i < jobs; i++)
        started[i] = pthread_create(&workers[i].thread, NULL, collect_work_chunks, &workers[i]) == 0;
    collect_work_chunks(&workers[0]);
    struct profile *whole = profile_new();
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(workers[i].thread, NULL);
        profile_merge(whole, workers[i].collector.profile);
        if (waits)
            collect_merge_waits(waits, whole, &workers[i]);
        collector_end(&workers[i].collector);
    }
    progress_end();
    struct profile *trees = trees_profile(file, selection, sites);
    if (file->samples && trees->node_count > trees->thread_count)
        sampled_trees_add(trees, file, file->samples);
    profile_merge(whole, trees);
    profile_free(trees);
    if (sites)
        shared_callees_settle(whole);
    if (file->summed_count)
        whole->counts = selection ? tree_sums_count_part(whole) : tree_sums_counts(file);
    threads_take_outside(whole);
    threads_flag_blind(whole, file);
    free(started);
    free(workers);
    free(order);
    if (ends && !waits) {
        struct profile *used = subtree_used(whole);
        profile_free(whole);
        whole = used;
    }
    free(ends);
    return whole;
}

struct profile *collect_selection(const struct session_file *file, unsigned jobs, const struct selection *selection)
{
    return collect_with_workers(file, jobs, selection, false, NULL);
}

struct profile *collect_sites(const struct session_file *file, unsigned jobs, const struct selection *selection)
{
    return collect_with_workers(file, jobs, selection, true, NULL);
}

struct profile *collect_waits(const struct session_file *file, unsigned jobs, const struct selection *selection,
                              struct waits *waits)
{
    return collect_with_workers(file, jobs, selection, false, waits);
}

struct profile *collect_profile(const struct session_file *file, unsigned jobs)
{
    struct profile *p = collect_selection(file, jobs, NULL);
    counted_collect(p, file, NULL);
    return p;
}

struct profile *collect_chunks(const struct session_file *file, struct trace_chunk *chunks, size_t count, unsigned jobs)
{
    struct session_file part = *file;
    part.chunks = chunks;
    part.chunk_count = count;
    part.reported_count = 0;
    return collect_profile(&part, jobs);
}
