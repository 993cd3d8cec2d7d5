/* The single calls of an analysis: follows them, and finds the shortest and the longest call of each path. */
#include "analysis/single_calls.h"

#include <stdlib.h>

#include "analysis/durations_known.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "profile/collect.h"
#include "profile/durations.h"
#include "profile/noted_calls.h"

struct probe_cost *single_calls_list_costs(const struct session_file *f, size_t *count)
{
    struct probe_cost *costs = need_memory(f->process_count, sizeof *costs);
    *count = 0;
    for (size_t i = 0; i < f->process_count; i++) {
        const struct dwell_rec_probes *probes = &f->processes[i].probes;
        if (probes->rounds)
            costs[(*count)++] = (struct probe_cost){ f->processes[i].serial, probes->in_callee, probes->in_caller,
                                                     probes->first_callee };
    }
    return costs;
}

uint64_t single_calls_resolution(const struct session_file *f)
{
    uint64_t most = 0;
    for (size_t i = 0; i < f->process_count; i++) {
        const struct dwell_rec_probes *probes = &f->processes[i].probes;
        if (probes->rounds && probes->in_callee > most)
            most = probes->in_callee;
    }
    return (most + DWELL_PROBE_FRACTION - 1) / DWELL_PROBE_FRACTION;
}

const struct profile *analysis_call_paths(const struct analysis *analysis)
{
    return analysis->measured ? analysis->measured : analysis->profile;
}

/* What the calls are found in, and the lists that it needs. */
struct single_calls {
    struct calls_source source;
    struct probe_cost *costs;
    uint32_t *functions;
};

static struct single_calls single_calls_begin(const struct analysis *analysis)
{
    const struct profile *paths = analysis_call_paths(analysis);
    struct single_calls s = { .source = {
                                  .file = analysis->file, .profile = paths, .selection = analysis->selection } };
    s.source.costs = s.costs = single_calls_list_costs(analysis->file, &s.source.cost_count);
    s.source.functions = s.functions = profile_find_functions(analysis->profile, paths);
    if (analysis->summary.raw)
        s.source.cost_count = 0;
    return s;
}

static void single_calls_end(const struct single_calls *s)
{
    free(s->functions);
    free(s->costs);
}

void analysis_follow_calls(const struct analysis *analysis, bool all, call_taker *take, void *context)
{
    struct single_calls s = single_calls_begin(analysis);
    s.source.all = all;
    calls_follow(&s.source, take, context);
    single_calls_end(&s);
}

unsigned analysis_jobs(const struct analysis *analysis)
{
    return analysis->jobs ? analysis->jobs : collect_default_jobs();
}

void analysis_scan_calls(const struct analysis *analysis, uint32_t function, call_scan_taker *take,
                         void *const *contexts)
{
    const struct single_calls s = single_calls_begin(analysis);
    calls_scan(&s.source, function, analysis_jobs(analysis), take, contexts);
    single_calls_end(&s);
}

/* Of all functions, by path. */
static void single_calls_scan_paths(const struct analysis *analysis, bool recorded, call_amounts_taker *take,
                                    void *const *contexts)
{
    struct single_calls s = single_calls_begin(analysis);
    s.source.recorded = recorded;
    s.source.by_path = true;
    s.source.noted = recorded ? NULL : analysis->noted;
    calls_scan_elapsed(&s.source, PROFILE_NONE, analysis_jobs(analysis), take, contexts);
    single_calls_end(&s);
}

void analysis_scan_elapsed(const struct analysis *analysis, uint32_t function, call_amounts_taker *take,
                           void *const *contexts)
{
    const struct single_calls s = single_calls_begin(analysis);
    calls_scan_elapsed(&s.source, function, analysis_jobs(analysis), take, contexts);
    single_calls_end(&s);
}

static bool single_calls_have_range(const struct analysis *analysis)
{
    return analysis->selection && analysis->selection->cut;
}

/* ---- the shortest and the longest calls ---- */

static void single_calls_lower(int64_t *limit, int64_t time)
{
    int64_t known = __atomic_load_n(limit, __ATOMIC_RELAXED);
    while (time < known && !__atomic_compare_exchange_n(limit, &known, time, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void single_calls_raise(int64_t *limit, int64_t time)
{
    int64_t known = __atomic_load_n(limit, __ATOMIC_RELAXED);
    while (time > known && !__atomic_compare_exchange_n(limit, &known, time, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* All workers change the limits without probes of the same profile, in 1/256 ticks. A limit seldom changes. */
static void single_calls_add_limits(void *context, const struct call_amount *amounts, size_t count)
{
    const struct profile *p = context;
    for (size_t i = 0; i < count; i++) {
        if (amounts[i].path >= p->node_count)
            continue;
        struct profile_node *node = &p->nodes[amounts[i].path];
        single_calls_lower((int64_t *)&node->net_shortest, (int64_t)amounts[i].time);
        single_calls_raise((int64_t *)&node->net_longest, (int64_t)amounts[i].time);
    }
}

void single_calls_forget_limits_of(struct profile_node *node)
{
    node->shortest = UINT64_MAX;
    node->longest = 0;
}

void single_calls_take_limits_of(struct profile_node *node)
{
    node->shortest = smaller(node->shortest, node->net_shortest);
    node->longest = larger(node->longest, node->net_longest);
}

void single_calls_forget_limits(struct analysis *analysis)
{
    size_t count;
    struct probe_cost *costs = single_calls_list_costs(analysis->file, &count);
    const struct probe_cost **cost = overhead_costs_of_nodes(analysis->profile, costs, count);
    for (size_t i = 0; i < analysis->profile->node_count; i++)
        if (cost[i])
            single_calls_forget_limits_of(&analysis->profile->nodes[i]);
    free(cost);
    free(costs);
}

static void single_calls_forget_net_limits(struct profile_node *node)
{
    node->net_shortest = UINT64_MAX;
    node->net_longest = 0;
}

static void single_calls_begin_limits(struct profile *p)
{
    for (size_t i = 0; i < p->node_count; i++) {
        p->nodes[i].net_shortest = INT64_MAX;
        p->nodes[i].net_longest = (uint64_t)INT64_MIN;
    }
}

static void single_calls_end_limits(struct profile *p)
{
    for (size_t i = 0; i < p->node_count; i++) {
        struct profile_node *node = &p->nodes[i];
        if ((int64_t)node->net_shortest > (int64_t)node->net_longest) {
            single_calls_forget_net_limits(node);
            continue;
        }
        node->net_shortest = call_ticks(node->net_shortest);
        node->net_longest = call_ticks(node->net_longest);
    }
}

void single_calls_take_limits(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->profile->node_count; i++)
        single_calls_take_limits_of(&analysis->profile->nodes[i]);
}

/* Takes limits that were scanned, and forgets them: only sums have both. */
static void single_calls_take_scanned(struct profile *p)
{
    single_calls_end_limits(p);
    for (size_t i = 0; i < p->node_count; i++) {
        single_calls_take_limits_of(&p->nodes[i]);
        single_calls_forget_net_limits(&p->nodes[i]);
    }
}

/* The only call of a path is all of it. What samples and counting took of the calls below it is rounded for each of
 * them, which may be millions. In a range of time, a call has its whole time. */
static void single_calls_complete_only_calls(struct analysis *analysis)
{
    struct profile *p = analysis->profile;
    if (single_calls_have_range(analysis) || !path_probes_are_divided(p))
        return;
    uint64_t *inclusive = need_memory(p->node_count, sizeof *inclusive);
    for (size_t i = p->node_count; i-- > 0;) { /* callees come after their callers */
        struct profile_node *node = &p->nodes[i];
        inclusive[i] += node->elapsed;
        if (node->parent != PROFILE_NONE)
            inclusive[node->parent] += inclusive[i];
        if (node->calls == 1 && node->shortest <= node->longest)
            node->shortest = node->longest = inclusive[i];
    }
    free(inclusive);
}

/* Passes the limits of the paths of single calls on to the profile in which copies of functions were joined. */
static void single_calls_pass_limits_on(const struct analysis *analysis)
{
    const struct profile *paths = analysis->measured;
    struct profile *p = analysis->profile;
    uint32_t *nodes = profile_find_nodes(p, paths);
    for (size_t i = 0; i < paths->node_count; i++) {
        const struct profile_node *from = &paths->nodes[i];
        if (from->parent == PROFILE_NONE || nodes[i] == PROFILE_NONE)
            continue;
        struct profile_node *into = &p->nodes[nodes[i]];
        into->shortest = smaller(into->shortest, from->shortest);
        into->longest = larger(into->longest, from->longest);
    }
    free(nodes);
}

/* What a worker of a scan with limits has. */
struct limits_worker {
    struct profile *paths;
    call_amounts_taker *take; /* or NULL */
    void *context;
};

static void single_calls_take_with_limits(void *context, const struct call_amount *amounts, size_t count)
{
    const struct limits_worker *w = context;
    single_calls_add_limits(w->paths, amounts, count);
    if (w->take)
        w->take(w->context, amounts, count);
}

void analysis_scan_with_limits(struct analysis *analysis, call_amounts_taker *take, void *const *contexts)
{
    if (!analysis->lacks_limits) {
        analysis_scan_elapsed(analysis, PROFILE_NONE, take, contexts);
        return;
    }
    struct profile *paths = analysis->measured ? analysis->measured : analysis->profile;
    const unsigned jobs = analysis_jobs(analysis);
    struct limits_worker *workers = need_memory(jobs, sizeof *workers);
    void **own = need_memory(jobs, sizeof *own);
    for (unsigned i = 0; i < jobs; i++) {
        workers[i] = (struct limits_worker){ paths, take, take ? contexts[i] : NULL };
        own[i] = &workers[i];
    }
    single_calls_begin_limits(paths);
    analysis_scan_elapsed(analysis, PROFILE_NONE, single_calls_take_with_limits, own);
    single_calls_take_scanned(paths);
    if (analysis->measured)
        single_calls_pass_limits_on(analysis);
    rollup_free(analysis->rollup);
    analysis->rollup = rollup_new(analysis->profile);
    analysis->lacks_limits = false;
    free(own);
    free(workers);
}

bool single_calls_can_wait(const struct analysis *analysis)
{
    return analysis->limits && !analysis->raw && !analysis->lines && !analysis->samples &&
           !analysis->file->header.sample_cost && !analysis->selection &&
           !call_filters_any(&analysis->request.filters) && analysis->file->header.mode != DWELL_MODE_PROFILE &&
           !analysis->file->sums.summed_count;
}

/* ---- durations ---- */

void single_calls_collect(struct analysis *analysis, unsigned jobs)
{
    if (analysis->file->sums.summed_count || analysis->file->header.mode == DWELL_MODE_PROFILE) {
        analysis->profile = collect_tree_durations(analysis->file, analysis->samples, jobs, analysis->selection,
                                                   durations_wanted(analysis), NULL);
        return;
    }
    if (selection_has_ranges(analysis->selection)) {
        analysis->profile = collect_selection(analysis->file, analysis->samples, jobs, analysis->selection);
        return;
    }
    if (analysis->samples) { /* which take a part of the paths' time: only then durations are known */
        analysis->noted = noted_calls_new(analysis->file, NOTED_BYTES);
        analysis->profile =
            collect_noted(analysis->file, analysis->samples, jobs, analysis->selection, analysis->noted);
        return;
    }
    size_t count;
    struct probe_cost *costs = single_calls_list_costs(analysis->file, &count);
    analysis->profile = collect_durations(analysis->file, analysis->samples, jobs, analysis->selection, costs,
                                          analysis->raw ? 0 : count, &analysis->durations_kept);
    free(costs);
}

/* Whether the durations of a path have to add up to its inclusive time. Those of a path with unfinished calls do not,
 * and times below the resolution are those of probes. */
static bool single_calls_are_all(const struct profile_node *node, uint64_t inclusive, uint64_t resolution)
{
    return node->durations && durations_calls(node->durations) == node->calls && inclusive / resolution >= node->calls;
}

/* As well as a histogram can tell. */
static bool single_calls_add_up(const struct durations *durations, uint64_t inclusive)
{
    enum { PART = 128, ROUNDED = 2 };
    const uint64_t sum = durations->sum / DWELL_PROBE_FRACTION;
    return less(sum, inclusive) + less(inclusive, sum) <= inclusive / PART + ROUNDED;
}

/* Whether the durations of all paths add up. If so, the only call of a path gets the path's time. */
static bool single_calls_complete(struct analysis *analysis)
{
    struct profile *p = analysis->profile;
    const uint64_t resolution = larger(single_calls_resolution(analysis->file), 1);
    uint64_t *inclusive = need_memory(p->node_count + 1, sizeof *inclusive);
    bool good = true;
    for (size_t i = p->node_count; i-- > 0 && good;) { /* children come after their parents */
        const struct profile_node *node = &p->nodes[i];
        inclusive[i] += node->elapsed;
        if (node->parent != PROFILE_NONE)
            inclusive[node->parent] += inclusive[i];
        good =
            !single_calls_are_all(node, inclusive[i], resolution) || single_calls_add_up(node->durations, inclusive[i]);
    }
    for (size_t i = 0; i < p->node_count && good; i++) {
        struct profile_node *node = &p->nodes[i];
        if (node->calls == 1 && single_calls_are_all(node, inclusive[i], resolution))
            durations_set_call(&node->durations, inclusive[i], inclusive[i] * DWELL_PROBE_FRACTION);
    }
    free(inclusive);
    return good;
}

bool single_calls_keep(struct analysis *analysis)
{
    return analysis->durations_kept && !path_probes_are_divided(analysis->profile) && single_calls_complete(analysis);
}

/* The calls of a path that a worker has found. The first one has no table of its own: many paths have no other. */
struct found_calls {
    int64_t shortest, longest; /* in 1/256 ticks; above each other if there is none */
    struct durations *durations;
    uint64_t expected; /* calls of the path */
};

static void single_calls_add_to_table(struct durations **d, int64_t time)
{
    durations_add_call(d, call_ticks((uint64_t)time), (uint64_t)time);
}

__attribute__((noinline)) static void single_calls_add_second(struct found_calls *f)
{
    if (f->shortest > f->longest)
        return;
    durations_reserve(&f->durations, f->expected);
    single_calls_add_to_table(&f->durations, f->shortest);
}

static void single_calls_add_durations(void *context, const struct call_amount *amounts, size_t count)
{
    struct found_calls *paths = context;
    for (size_t i = 0; i < count; i++) {
        struct found_calls *f = &paths[amounts[i].path];
        const int64_t time = (int64_t)amounts[i].time;
        const bool first = f->shortest > f->longest;
        if (__builtin_expect(!f->durations, 0))
            single_calls_add_second(f);
        f->shortest = time < f->shortest ? time : f->shortest;
        f->longest = time > f->longest ? time : f->longest;
        if (__builtin_expect(!first, 1))
            single_calls_add_to_table(&f->durations, time);
    }
}

/* For a worker. It also finds calls of paths that the profile does not have. */
static struct found_calls *single_calls_none_found(const struct profile *p, size_t paths)
{
    struct found_calls *found = need_memory(paths, sizeof *found);
    for (size_t i = 0; i < paths; i++)
        found[i] = (struct found_calls){ .shortest = INT64_MAX,
                                         .longest = INT64_MIN,
                                         .expected = i < p->node_count ? p->nodes[i].calls : 0 };
    return found;
}

/* Moves what a worker has found to the path. */
static void single_calls_take_found(struct profile_node *node, struct found_calls *f, bool limits)
{
    if (!f->durations)
        single_calls_add_second(f);
    durations_move(&node->durations, &f->durations);
    if (!limits)
        return;
    single_calls_lower((int64_t *)&node->net_shortest, f->shortest);
    single_calls_raise((int64_t *)&node->net_longest, f->longest);
}

static void single_calls_scan_durations(const struct analysis *analysis, bool recorded, bool limits)
{
    struct profile *p = analysis->profile;
    const unsigned jobs = analysis_jobs(analysis);
    const size_t paths = p->node_count + analysis->file->thread_count + 1;
    struct found_calls **found = need_memory(jobs, sizeof *found);
    for (unsigned i = 0; i < jobs; i++)
        found[i] = single_calls_none_found(p, paths);
    profile_drop_durations(p);
    single_calls_scan_paths(analysis, recorded, single_calls_add_durations, (void *const *)found);
    for (unsigned i = 0; i < jobs; i++) {
        for (size_t j = 0; j < paths; j++) {
            if (j < p->node_count)
                single_calls_take_found(&p->nodes[j], &found[i][j], limits);
            free(found[i][j].durations);
        }
        free(found[i]);
    }
    free(found);
}

/* Without durations. */
static void single_calls_scan_limits(const struct analysis *analysis)
{
    const unsigned jobs = analysis_jobs(analysis);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++)
        contexts[i] = analysis->profile;
    single_calls_scan_paths(analysis, false, single_calls_add_limits, contexts);
    free(contexts);
}

void single_calls_find(struct analysis *analysis, bool limits, bool durations)
{
    if (limits)
        single_calls_begin_limits(analysis->profile);
    if (analysis->noted)
        noted_calls_number(analysis->noted, analysis->profile);
    if (durations)
        single_calls_scan_durations(analysis, false, limits);
    else if (limits)
        single_calls_scan_limits(analysis);
    noted_calls_free(analysis->noted);
    analysis->noted = NULL;
    if (!limits)
        return;
    single_calls_take_scanned(analysis->profile);
    single_calls_complete_only_calls(analysis);
}

/* ---- for sums ---- */

/* The calls are read one by one: what is kept while a session is collected depends on which threads are. */
void single_calls_find_net(struct analysis *analysis)
{
    size_t count;
    struct profile *p = analysis->profile;
    single_calls_begin_limits(p);
    if (analysis->file->header.mode != DWELL_MODE_PROFILE) /* which has them in its trees */
        single_calls_scan_durations(analysis, true, true);
    single_calls_end_limits(p);
    struct probe_cost *costs = single_calls_list_costs(analysis->file, &count);
    const struct probe_cost **cost = overhead_costs_of_nodes(p, costs, count);
    for (size_t i = 0; i < p->node_count; i++) {
        struct profile_node *node = &p->nodes[i];
        if (cost[i])
            continue;
        node->net_shortest = smaller(node->net_shortest, node->shortest);
        node->net_longest = larger(node->net_longest, node->longest);
    }
    free(cost);
    free(costs);
}
