/* The single calls of an analysis: follows them, and finds the shortest and the longest call of each path. */
#include "analysis/single_calls.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/collect.h"

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

/* By function of the paths' profile: its number in the analysis. The caller frees the list. */
static uint32_t *single_calls_number_functions(const struct analysis *l, const struct profile *paths)
{
    uint32_t *numbers = need_memory(paths->function_count, sizeof *numbers);
    for (uint32_t i = 0; i < paths->function_count; i++)
        numbers[i] = profile_find_same_function(l->profile, paths, i);
    return numbers;
}

static struct calls_source single_calls_source(const struct analysis *l, struct probe_cost **costs,
                                               uint32_t **functions)
{
    const struct profile *paths = l->measured ? l->measured : l->profile;
    struct calls_source source = { .file = l->file, .profile = paths, .selection = l->selection };
    source.costs = *costs = single_calls_list_costs(l->file, &source.cost_count);
    source.functions = *functions = single_calls_number_functions(l, paths);
    if (l->summary.raw)
        source.cost_count = 0;
    return source;
}

void analysis_follow_calls(const struct analysis *l, bool all, call_taker *take, void *context)
{
    struct probe_cost *costs;
    uint32_t *functions;
    struct calls_source source = single_calls_source(l, &costs, &functions);
    source.all = all;
    calls_follow(&source, take, context);
    free(functions);
    free(costs);
}

unsigned analysis_jobs(const struct analysis *l)
{
    return l->jobs ? l->jobs : collect_default_jobs();
}

void analysis_scan_calls(const struct analysis *l, uint32_t function, call_scan_taker *take, void *const *contexts)
{
    struct probe_cost *costs;
    uint32_t *functions;
    const struct calls_source source = single_calls_source(l, &costs, &functions);
    calls_scan(&source, function, analysis_jobs(l), take, contexts);
    free(functions);
    free(costs);
}

void analysis_scan_elapsed(const struct analysis *l, uint32_t function, call_amounts_taker *take, void *const *contexts)
{
    struct probe_cost *costs;
    uint32_t *functions;
    const struct calls_source source = single_calls_source(l, &costs, &functions);
    calls_scan_elapsed(&source, function, analysis_jobs(l), take, contexts);
    free(functions);
    free(costs);
}

/* ---- the shortest and the longest calls ---- */

struct single_calls_limits {
    int64_t shortest, longest; /* in 1/256 ticks */
};

static void single_calls_add_limits(void *context, const struct call_amount *amounts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct single_calls_limits *limits = (struct single_calls_limits *)context + amounts[i].path;
        const int64_t time = (int64_t)amounts[i].time;
        if (time < limits->shortest)
            limits->shortest = time;
        if (time > limits->longest)
            limits->longest = time;
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

void single_calls_forget_limits(struct analysis *l)
{
    size_t count;
    struct probe_cost *costs = single_calls_list_costs(l->file, &count);
    const struct probe_cost **cost = overhead_costs_of_nodes(l->profile, costs, count);
    for (size_t i = 0; i < l->profile->node_count; i++)
        if (cost[i])
            single_calls_forget_limits_of(&l->profile->nodes[i]);
    free(cost);
    free(costs);
}

void single_calls_find_limits(struct analysis *l)
{
    if (l->file->summed_count) {
        for (size_t i = 0; i < l->profile->node_count; i++)
            single_calls_take_limits_of(&l->profile->nodes[i]);
        return;
    }
    const unsigned jobs = analysis_jobs(l);
    const size_t count = l->profile->node_count + l->file->thread_count + 1;
    void **lists = need_memory(jobs, sizeof *lists);
    for (unsigned i = 0; i < jobs; i++) {
        struct single_calls_limits *limits = lists[i] = need_memory(count, sizeof *limits);
        for (size_t j = 0; j < count; j++)
            limits[j] = (struct single_calls_limits){ INT64_MAX, INT64_MIN };
    }
    analysis_scan_elapsed(l, PROFILE_NONE, single_calls_add_limits, lists);
    for (unsigned i = 0; i < jobs; i++) {
        const struct single_calls_limits *limits = lists[i];
        for (size_t j = 0; j < l->profile->node_count; j++) {
            struct profile_node *node = &l->profile->nodes[j];
            if (limits[j].shortest > limits[j].longest)
                continue;
            node->shortest = smaller(node->shortest, call_ticks((uint64_t)limits[j].shortest));
            node->longest = larger(node->longest, call_ticks((uint64_t)limits[j].longest));
        }
        free(lists[i]);
    }
    free(lists);
}
