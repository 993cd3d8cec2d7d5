/* Runs every reader of a session, and aborts if two of them disagree. */
#include "support/swallow.h"

#include <stdlib.h>

#include "profile/collect.h"
#include "profile/edges.h"
#include "profile/recursion.h"
#include "profile/rollup.h"
#include "profile/subtree.h"
#include "profile/trees.h"
#include "report/replay.h"
#include "trace/event_pairs.h"
#include "trace/scan.h"

/* The quick scan and the profile follow events by different code. They must agree on any input. The profile also has
 * the calls of call trees. */
static void swallow_check_scan(const struct session_file *file, const struct profile_counts *counts)
{
    struct scan scan = scan_session(file, 1);
    struct profile *trees = trees_profile(file, NULL, false);
    const bool stated = file->sums.summed_count > 0; /* the counts are those that the file says */
    if (!stated && (scan.enters + trees->counts.enters != counts->enters ||
                    scan.exits + trees->counts.exits != counts->exits + counts->stray_exits))
        abort();
    profile_free(trees);
    scan_free(&scan);
}

static void swallow_by_process(const struct profile *profile, const struct rollup *rollup)
{
    size_t count;
    uint32_t *processes = rollup_process_list(profile, &count);
    for (size_t i = 0; i < count && i < 4; i++) {
        struct edges e = edges_of_process(rollup, processes[i]);
        edges_free(&e);
        profile_free(rollup_join_process(profile, processes[i]));
    }
    free(processes);
}

/* An event belongs to at most one activity, and never to one without a partner. All data of each event can be read. */
static void swallow_trace_events(const struct session_file *file)
{
    struct trace_events events = trace_events_read(file);
    if (trace_events_count(file) != events.count)
        abort();
    volatile uint64_t sum = 0;
    for (size_t i = 0; i < events.count; i++) {
        const struct trace_event *e = &events.list[i];
        if ((i && e->time < e[-1].time) || e->previous > i || e->class >= events.class_count)
            abort();
        for (unsigned j = 0; j < e->frames; j++)
            sum += trace_event_frame(e, j);
        for (uint32_t j = 0; j < e->data_size; j++)
            sum += e->data[j];
    }
    (void)sum;
    for (size_t key = 0; key < 4; key += 3) {
        struct event_pairs pairs = event_pairs_match(&events, key);
        size_t used = pairs.stray_count;
        for (size_t i = 0; i < pairs.count; i++)
            used += 1 + (pairs.list[i].dequeue != 0) + pairs.list[i].replies +
                    (pairs.list[i].end && pairs.list[i].end != pairs.list[i].last_reply);
        if (used > events.count)
            abort();
        event_pairs_free(&pairs);
    }
    trace_events_free(&events);
}

static bool swallow_count_line(void *context, const struct replay_line *line)
{
    size_t *lines = context;
    return line->thread != (const void *)line && ++*lines < 100000;
}

/* Replays the whole session, and its second half with few lines. */
static void swallow_replay(const struct session_file *file)
{
    uint64_t middle = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        middle = middle / 2 + file->chunks[i].start_time / 2;
    size_t lines = 0;
    replay(file, &(struct replay_options){ .to = UINT64_MAX }, swallow_count_line, &lines);
    char *any[] = { "*" };
    const struct selection_names roots = { .list = any, .count = 1 };
    replay(file, &(struct replay_options){ .from = middle, .to = UINT64_MAX / 2, .shortest = 1000, .roots = &roots },
           swallow_count_line, &lines);
}

/* Profiles both halves, the calls below a function, and the tree with recursion folded. */
static void swallow_selections(const struct session_file *file, const struct profile *profile,
                               const struct rollup *rollup)
{
    uint64_t start = UINT64_MAX, end = 0;
    for (size_t i = 0; i < file->chunk_count; i++) {
        start = file->chunks[i].start_time < start ? file->chunks[i].start_time : start;
        end = file->chunks[i].start_time > end ? file->chunks[i].start_time : end;
    }
    const uint64_t middle = start < end ? start + (end - start) / 2 : start + 100;
    profile_free(collect_selection(file, NULL, 1, &(struct selection){ .cut = true, .from = 0, .to = middle }));
    profile_free(
        collect_selection(file, NULL, 1, &(struct selection){ .cut = true, .from = middle, .to = UINT64_MAX }));
    bool *roots = calloc(profile->function_count + 1, sizeof *roots);
    for (uint32_t i = 0; i < profile->function_count && i < 4; i++) {
        roots[i] = true;
        profile_free(subtree_below(profile, roots));
    }
    free(roots);
    uint32_t *deepest;
    profile_free(recursion_fold(rollup, &deepest));
    free(deepest);
}

/* With call sites, functions have the same values as without. Neither has calls that were only counted. */
static void swallow_sites(const struct session_file *file)
{
    struct profile *sites = collect_sites(file, NULL, 1, NULL), *profile = collect_selection(file, NULL, 1, NULL);
    struct rollup *rollup = rollup_new(sites);
    uint64_t calls = 0;
    for (size_t i = 0; i < sites->node_count; i++)
        calls += sites->nodes[i].calls;
    for (size_t i = 0; i < profile->node_count; i++)
        calls -= profile->nodes[i].calls;
    if (calls != 0 || sites->function_count != profile->function_count)
        abort();
    free(rollup_groups(rollup, BY_LINE));
    for (uint32_t i = 0; i < sites->function_count && i < 4; i++) {
        struct neighbours n = rollup_neighbours(rollup, i);
        neighbours_free(&n);
    }
    rollup_free(rollup);
    profile_free(sites);
    profile_free(profile);
}

bool swallow_session(const char *path, const char **error)
{
    struct session_file *file = session_file_open(path, error);
    if (!file)
        return false;
    struct profile *profile = collect_profile(file, 1);
    struct rollup *rollup = rollup_new(profile);
    for (int by = BY_FUNCTION; by <= BY_PROCESS; by++)
        free(rollup_groups(rollup, (enum rollup_by)by));
    for (uint32_t i = 0; i < profile->function_count && i < 4; i++) {
        struct neighbours n = rollup_neighbours(rollup, i);
        neighbours_free(&n);
    }
    profile_free(rollup_join_threads(profile));
    swallow_by_process(profile, rollup);
    swallow_selections(file, profile, rollup);
    swallow_sites(file);
    swallow_check_scan(file, &profile->counts);
    profile_free(trees_profile_with_durations(file, NULL, ~0u));
    swallow_trace_events(file);
    swallow_replay(file);
    rollup_free(rollup);
    profile_free(profile);
    session_file_close(file);
    return true;
}
