/*
 * Makes the profile of a session. Each worker takes one chunk after another and adds it to its own profile. It adds
 * this profile to the whole at the end, and whenever it has become large, so that memory holds few paths twice.
 */
#include "profile/collect.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/sorted.h"
#include "profile/chunk_ends.h"
#include "profile/collector.h"
#include "profile/collector_durations.h"
#include "profile/collector_noted.h"
#include "profile/counted.h"
#include "profile/sampled_trees.h"
#include "profile/shared_callees.h"
#include "profile/subtree.h"
#include "profile/threads.h"
#include "profile/tree_sums.h"
#include "profile/trees.h"
#include "profile/waits.h"
#include "trace/chunk_order.h"

/* How many nodes the profiles of all workers have, and that of one, unless its paths repeat. 65536 take 16 MB. One path
 * of PATHS_A_SAMPLE is remembered, to see whether they do. */
enum { MOST_NODES = 1 << 18, MOST_OF_ONE = 1 << 16, LEAST_OF_ONE = 1 << 14, PATHS_A_SAMPLE = 64 };

/* What the workers add their profiles to. */
struct collect_whole {
    pthread_mutex_t lock;
    const struct session_samples *samples; /* of the session; NULL if there are none, or they are not wanted */
    struct profile *profile;
    struct waits *waits;         /* or NULL. With waits, the profile has only their paths, and no amounts */
    struct timed_session *timed; /* or NULL: durations of calls are kept */
    struct noted_calls *noted;   /* or NULL: calls are noted */
};

struct collect_worker {
    struct collector collector;
    struct collect_whole *whole;
    size_t most;                /* nodes */
    struct number_index *known; /* hashes of the remembered paths */
    struct waits waits;
    const struct session_file *file;
    const struct selection *selection; /* NULL for the whole session */
    const uint64_t *ends;              /* by chunk: its end time; NULL if the selection has no limits in time */
    const uint64_t *asked_ends;        /* the same; NULL if nothing is asked of what was open */
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
    /* the first range that ends after the chunk's begin */
    const size_t place = LOWER_BOUND(r, range, count, r->end <= begin);
    *whole = place < count && range[place].begin <= begin && range[place].end > end;
    return place < count && range[place].begin <= end;
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

/* Whether it is asked what was open in the chunk. The loop for chunks that count as a whole gives no answers. */
static bool collect_chunk_is_asked(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    return w->asked_ends &&
           waits_ask(&w->waits, chunk->thread, chunk->start_time, w->asked_ends[chunk - w->file->chunks]);
}

/* Whether the chunk can add to what is collected: none that was found to be without waits adds one. The time to a
 * thread's end is in none of its events. */
static bool collect_chunk_counts(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    return !w->collector.waits || !chunk->without_waits || chunk->last_of_thread || collect_chunk_is_asked(w, chunk);
}

static void collect_chunk(struct collect_worker *w, struct trace_chunk *chunk)
{
    const bool whole = collect_chunk_is_whole(w, chunk);
    if (!collect_chunk_counts(w, chunk))
        return;
    if (collector_add_chunk(&w->collector, chunk, whole && !collect_chunk_is_asked(w, chunk)) && whole)
        chunk->without_waits = !w->collector.found_waits;
}

/* ---- adding to the whole ---- */

static void collect_mark_waits(const struct waits *w, const struct profile *p, bool *kept)
{
    for (size_t i = 0; i < w->count; i++)
        kept[w->list[i].place.node] = true;
    for (size_t i = 0; i < w->act_count; i++)
        kept[w->acts[i].node] = true;
    for (size_t i = 0; i < w->answer_count; i++)
        kept[w->answers[i].node] = true;
    subtree_keep_callers(p, kept);
}

static void collect_add_waits(struct collect_whole *whole, struct waits *waits, const struct profile *p)
{
    bool *kept = need_memory(p->node_count, sizeof *kept);
    collect_mark_waits(waits, p, kept);
    uint32_t *nodes = profile_add_kept_nodes(whole->profile, p, kept);
    waits_merge(whole->waits, waits, nodes);
    free(nodes);
    free(kept);
}

static void collect_merge(struct profile *into, const struct collector *from)
{
    if (from->durations)
        timed_calls_count(from->durations, from->profile);
    uint32_t *nodes = profile_merge_numbered(into, from->profile);
    if (from->durations)
        timed_calls_renumber(from->durations, nodes);
    if (from->noter)
        call_noter_number(from->noter, nodes, from->profile->node_count);
    else
        free(nodes);
}

static void collect_add_to_whole(struct collect_worker *w)
{
    struct collect_whole *whole = w->whole;
    pthread_mutex_lock(&whole->lock);
    if (whole->waits)
        collect_add_waits(whole, &w->waits, w->collector.profile);
    else
        collect_merge(whole->profile, &w->collector);
    pthread_mutex_unlock(&whole->lock);
}

/* Remembers the hash of a path. Returns whether it was known. */
static bool collect_know_path(struct collect_worker *w, uint64_t hash)
{
    struct index_slot *slot = index_find(w->known, hash, 0);
    if (slot->value_plus_1)
        return true;
    index_set(w->known, slot, hash, 0, 0);
    return false;
}

/* Whether the worker had most of its paths before it last added them to the whole. */
static bool collect_repeats(struct collect_worker *w)
{
    const struct profile *p = w->collector.profile;
    uint64_t *hashes = need_memory(p->node_count, sizeof *hashes);
    size_t count = 0, known = 0;
    for (size_t i = 0; i < p->thread_count; i++)
        hashes[p->threads[i].root] = index_hash(p->threads[i].process, p->threads[i].thread);
    for (size_t i = 0; i < p->node_count; i++) {
        if (p->nodes[i].parent == PROFILE_NONE)
            continue;
        hashes[i] = index_hash(hashes[p->nodes[i].parent], p->nodes[i].function);
        if (hashes[i] % PATHS_A_SAMPLE == 0) {
            count++;
            known += collect_know_path(w, hashes[i]);
        }
    }
    free(hashes);
    return known * 2 > count;
}

/* Adding paths to the whole again and again would take longer than following them. Paths with call sites stay together,
 * as some of them share their callees. */
static void collect_keep_small(struct collect_worker *w)
{
    const size_t count = w->collector.profile->node_count;
    if (count < w->most || w->collector.sites)
        return;
    if (collect_repeats(w)) {
        w->most = 2 * count;
        return;
    }
    collect_add_to_whole(w);
    collector_clear(&w->collector);
}

static void *collect_work_chunks(void *argument)
{
    struct collect_worker *w = argument;
    for (;;) {
        size_t i = __atomic_fetch_add(w->next_chunk, 1, __ATOMIC_RELAXED);
        if (i >= w->file->chunk_count)
            return NULL;
        struct trace_chunk *chunk = &w->file->chunks[w->order[i]];
        w->collector.chunk_number = chunk->sequence;
        if (collect_chunk_is_wanted(w, chunk))
            collect_chunk(w, chunk);
        collect_keep_small(w);
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

/* Adds the events of the session to the whole. */
static void collect_with_workers(struct collect_whole *whole, const struct session_file *file, unsigned jobs,
                                 const struct selection *selection, bool sites)
{
    size_t next_chunk = 0;
    uint32_t *order = chunk_order_by_place(file);
    uint64_t *ends = selection && selection->cut ? chunk_ends(file) : NULL;
    uint64_t *asked_ends = whole->waits && whole->waits->query_count ? chunk_ends(file) : NULL;
    struct collect_worker *workers = need_memory(jobs, sizeof *workers);
    bool *started = need_memory(jobs, sizeof *started);
    for (unsigned i = 0; i < jobs; i++) {
        workers[i] = (struct collect_worker){ .whole = whole,
                                              .most = larger(smaller(MOST_NODES / jobs, MOST_OF_ONE), LEAST_OF_ONE),
                                              .known = index_new(),
                                              .file = file,
                                              .selection = selection,
                                              .ends = ends,
                                              .asked_ends = asked_ends,
                                              .order = order,
                                              .next_chunk = &next_chunk };
        collector_begin(&workers[i].collector, file, whole->samples, selection, sites);
        if (whole->waits) {
            workers[i].waits = *whole->waits;
            workers[i].collector.waits = &workers[i].waits;
        }
        if (whole->timed)
            workers[i].collector.durations = timed_calls_new(whole->timed);
        if (whole->noted)
            workers[i].collector.noter = call_noter_new(whole->noted);
    }
    progress_begin("reading", file->path, file->chunk_count);
    for (unsigned i = 1; i < jobs; i++)
        started[i] = pthread_create(&workers[i].thread, NULL, collect_work_chunks, &workers[i]) == 0;
    collect_work_chunks(&workers[0]);
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(workers[i].thread, NULL);
        collect_add_to_whole(&workers[i]);
        timed_calls_free(workers[i].collector.durations);
        call_noter_free(workers[i].collector.noter);
        collector_end(&workers[i].collector);
        index_free(workers[i].known);
    }
    progress_end();
    free(started);
    free(workers);
    free(order);
    free(ends);
    free(asked_ends);
}

/* What is wanted of call trees. */
struct collect_trees {
    bool sites;
    unsigned kinds; /* of durations, as in trees.h */
    const struct recorded_values *values;
};

/* What is wanted of single calls. Either may be NULL. */
struct collect_calls {
    struct timed_session *timed;
    struct noted_calls *noted;
};

static struct profile *collect_read_trees(const struct session_file *file, const struct selection *selection,
                                          const struct collect_trees *wanted)
{
    if (wanted->values)
        return trees_profile_by_values(file, selection, wanted->kinds, wanted->values);
    return wanted->kinds ? trees_profile_with_durations(file, selection, wanted->kinds)
                         : trees_profile(file, selection, wanted->sites);
}

static struct profile *collect_trees(const struct session_file *file, const struct session_samples *samples,
                                     const struct selection *selection, const struct collect_trees *wanted)
{
    struct profile *trees = collect_read_trees(file, selection, wanted);
    if (samples && trees->node_count > trees->thread_count)
        sampled_trees_add(trees, file, samples);
    return trees;
}

static struct profile *collect_used(struct profile *p)
{
    struct profile *used = subtree_used(p);
    profile_free(p);
    return used;
}

/* Adds the events to a profile that has the trees. */
static void collect_add_events(struct profile *p, const struct session_file *file,
                               const struct session_samples *samples, unsigned jobs, const struct selection *selection,
                               bool sites, const struct collect_calls *calls)
{
    struct collect_whole whole = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .samples = samples,
                                   .profile = p,
                                   .timed = calls ? calls->timed : NULL,
                                   .noted = calls ? calls->noted : NULL };
    collect_with_workers(&whole, file, jobs, selection, sites);
    if (sites)
        shared_callees_settle(p);
    if (file->sums.summed_count) {
        const uint64_t damaged = p->counts.damaged_chunks;
        p->counts = selection ? tree_sums_count_part(p) : tree_sums_counts(file);
        p->counts.damaged_chunks += damaged;
    }
    threads_take_outside(p);
    threads_flag_blind(p, file);
}

static struct profile *collect_part(const struct session_file *file, const struct session_samples *samples,
                                    unsigned jobs, const struct selection *selection, const struct collect_trees *trees,
                                    const struct collect_calls *calls)
{
    struct profile *p = collect_trees(file, samples, selection, trees);
    collect_add_events(p, file, samples, jobs, selection, trees->sites, calls);
    return selection && selection->cut ? collect_used(p) : p;
}

void collect_add_selection(struct profile *p, const struct session_file *file, const struct session_samples *samples,
                           unsigned jobs, const struct selection *selection)
{
    struct profile *trees = collect_trees(file, samples, selection, &(struct collect_trees){ .sites = false });
    profile_merge(p, trees);
    profile_free(trees);
    collect_add_events(p, file, samples, jobs, selection, false, NULL);
}

struct profile *collect_selection(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                                  const struct selection *selection)
{
    return collect_part(file, samples, jobs, selection, &(struct collect_trees){ .sites = false }, NULL);
}

struct profile *collect_tree_durations(const struct session_file *file, const struct session_samples *samples,
                                       unsigned jobs, const struct selection *selection, unsigned kinds,
                                       const struct recorded_values *values)
{
    return collect_part(file, samples, jobs, selection, &(struct collect_trees){ .kinds = kinds, .values = values },
                        NULL);
}

struct profile *collect_sites(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                              const struct selection *selection)
{
    return collect_part(file, samples, jobs, selection, &(struct collect_trees){ .sites = true }, NULL);
}

struct profile *collect_durations(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                                  const struct selection *selection, const struct probe_cost *costs, size_t count,
                                  bool *kept)
{
    struct timed_session timed = timed_session_begin(file, costs, count, jobs);
    struct profile *p = collect_part(file, samples, jobs, selection, &(struct collect_trees){ .sites = false },
                                     &(struct collect_calls){ .timed = &timed });
    *kept = timed_session_end(&timed, p);
    return p;
}

struct profile *collect_noted(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                              const struct selection *selection, struct noted_calls *noted)
{
    struct profile *p = collect_part(file, samples, jobs, selection, &(struct collect_trees){ .sites = false },
                                     &(struct collect_calls){ .noted = noted });
    noted_calls_remember(noted, p);
    return p;
}

struct profile *collect_waits(const struct session_file *file, unsigned jobs, const struct selection *selection,
                              struct waits *waits)
{
    struct collect_whole whole = { .lock = PTHREAD_MUTEX_INITIALIZER, .profile = profile_new(), .waits = waits };
    collect_with_workers(&whole, file, jobs, selection, false);
    return whole.profile;
}

struct profile *collect_profile(const struct session_file *file, unsigned jobs)
{
    struct profile *p = collect_selection(file, NULL, jobs, NULL);
    counted_collect(p, file, NULL);
    return p;
}

struct profile *collect_chunks(const struct session_file *file, struct trace_chunk *chunks, size_t count, unsigned jobs)
{
    struct session_file part = *file;
    part.chunks = chunks;
    part.chunk_count = count;
    part.sums.reported_count = 0;
    return collect_profile(&part, jobs);
}
