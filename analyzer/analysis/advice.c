/* Finds the functions that a recording should leave out. */
#include "analysis/advice.h"

#include <stdlib.h>

#include "analysis/find_function.h"
#include "analysis/probe_share.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "base/wide.h"
#include "symbols/os_calls.h"

/* ---- callers ---- */

/* What a caller gets of a function's own time. */
struct advice_edge {
    uint32_t function, caller;
    uint64_t own, calls;
};

static int advice_compare_edges(const void *a, const void *b)
{
    const struct advice_edge *x = a, *y = b;
    return ORDER_BY(x, y, function, caller);
}

/* Lists the pairs of function and caller, sorted, each once. */
static struct advice_edge *advice_find_edges(const struct profile *p, size_t *count)
{
    struct advice_edge *list = need_memory(p->node_count, sizeof *list);
    size_t all = 0;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE || !node->calls)
            continue;
        const uint32_t caller = p->nodes[node->parent].function;
        if (caller != PROFILE_NONE && caller != node->function)
            list[all++] = (struct advice_edge){ node->function, caller, node->elapsed, node->calls };
    }
    *count = 0;
    if (all)
        qsort(list, all, sizeof *list, advice_compare_edges);
    for (size_t i = 0; i < all; i++) {
        if (*count && advice_compare_edges(&list[*count - 1], &list[i]) == 0) {
            list[*count - 1].own += list[i].own;
            list[*count - 1].calls += list[i].calls;
        } else {
            list[(*count)++] = list[i];
        }
    }
    return list;
}

static bool advice_gets_more(const struct analysis *analysis, const struct advice_edge *x, const struct advice_edge *y)
{
    if (x->own != y->own || x->calls != y->calls)
        return x->own != y->own ? x->own > y->own : x->calls > y->calls;
    return function_compare(analysis, x->caller, y->caller) < 0;
}

static void advice_fill_callers(struct advice *a, const struct analysis *analysis)
{
    const struct profile *p = analysis->profile;
    size_t count;
    struct advice_edge *edges = advice_find_edges(p, &count);
    size_t *first = need_memory(p->function_count + 1, sizeof *first);
    for (size_t i = 0; i < count; i++)
        first[edges[i].function + 1] = i + 1;
    for (size_t i = 1; i <= p->function_count; i++)
        first[i] = first[i] > first[i - 1] ? first[i] : first[i - 1];
    for (size_t i = 0; i < a->count; i++) {
        struct advised *f = &a->list[i];
        const struct advice_edge *most = NULL;
        for (size_t j = first[f->function]; j < first[f->function + 1]; j++) {
            most = !most || advice_gets_more(analysis, &edges[j], most) ? &edges[j] : most;
            f->callers++;
        }
        f->caller = most ? most->caller : PROFILE_NONE;
    }
    free(first);
    free(edges);
}

/* ---- the rule ---- */

/* The mean durations that a budget has recorded, by function: those of counted functions are known no other way. */
static uint64_t *advice_decided_means(const struct analysis *analysis)
{
    uint64_t *means = need_memory(analysis->profile->function_count, sizeof *means);
    for (size_t i = 0; i < analysis->file->levels.decision_count; i++) {
        const struct trace_decision *d = &analysis->file->levels.decisions[i];
        const struct trace_process *process = session_file_process(analysis->file, d->process);
        const struct trace_module *m = process ? trace_module_at(process, d->function, d->time) : NULL;
        const uint32_t module =
            m ? profile_find_module(analysis->profile, m->path, m->build_id, m->build_id_length) : PROFILE_NONE;
        const uint32_t function = module == PROFILE_NONE
                                      ? PROFILE_NONE
                                      : profile_find_function(analysis->profile, module, d->function - m->bias);
        if (function != PROFILE_NONE && d->mean)
            means[function] = d->mean;
    }
    return means;
}

static uint64_t advice_mean(const struct times *t, uint64_t decided)
{
    const uint64_t timed = times_are_sampled(t) ? t->calls : t->calls - t->counted;
    const uint64_t inclusive = t->elapsed_inclusive + t->overhead_inclusive;
    return timed && inclusive ? inclusive / timed : decided;
}

/* Calls of the operating system have no probes of a compiler, and nothing names functions of unknown modules. */
static bool advice_is_fixed(const struct analysis *analysis, uint32_t function)
{
    const char *path = analysis->profile->modules[analysis->profile->functions[function].module].path;
    return !*path || os_calls_is_library(path);
}

static struct budget_function *advice_functions(const struct advice *a, const struct analysis *analysis,
                                                const uint64_t *means)
{
    struct budget_function *list = need_memory(analysis->profile->function_count, sizeof *list);
    for (uint32_t i = 0; i < analysis->profile->function_count; i++)
        list[i] = (struct budget_function){
            .module = analysis->profile->functions[i].module,
            .offset = analysis->profile->functions[i].offset,
            .calls = a->calls[i],
            .inclusive = means[i] * a->calls[i],
            .is_fixed = advice_is_fixed(analysis, i),
        };
    return list;
}

static int advice_compare_costs(const void *x, const void *y, void *analysis)
{
    const struct advised *a = x, *b = y;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return function_compare(analysis, a->function, b->function);
}

/* Sorts the list by cost. A budget times a counted function again when that costs next to nothing. So the cheapest ones
 * leave the list as long as the aim is reached without them. */
static void advice_keep_cheap(struct advice *a, const struct analysis *analysis)
{
    uint64_t left = a->all_calls;
    for (size_t i = 0; i < a->count; i++)
        left -= a->list[i].calls;
    if (a->count)
        qsort_r(a->list, a->count, sizeof *a->list, advice_compare_costs, (void *)analysis);
    while (a->count && advice_is_reached(a, budget_cost(left + a->list[a->count - 1].calls, &a->look))) {
        left += a->list[--a->count].calls;
        a->has[a->list[a->count].function] = false;
    }
}

struct advice advice_of(const struct analysis *analysis, uint32_t permille)
{
    const size_t count = analysis->profile->function_count;
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    struct advice a = { .own =
                            times_value(&analysis->rollup->session, probe_share_rest(&analysis->summary), INCLUSIVE) };
    uint64_t *means = advice_decided_means(analysis);
    uint32_t *chosen = need_memory(count, sizeof *chosen);
    a.has = need_memory(count, sizeof *a.has);
    a.calls = need_memory(count, sizeof *a.calls);
    for (size_t i = 0; i < count; i++) {
        a.calls[i] = sums[i].calls;
        a.functions += a.calls[i] > 0;
        a.all_calls += a.calls[i];
        means[i] = advice_mean(&sums[i], means[i]);
    }
    a.look = (struct budget_look){ .probes = budget_probes(analysis->file), .permille = permille };
    a.look.cpu = a.own + budget_cost(a.all_calls, &a.look);
    struct budget_function *functions = advice_functions(&a, analysis, means);
    a.count = budget_decide(functions, count, &a.look, chosen);
    a.list = need_memory(a.count, sizeof *a.list);
    for (size_t i = 0; i < a.count; i++) {
        const uint32_t f = chosen[i];
        a.has[f] = true;
        a.list[i] = (struct advised){ .function = f,
                                      .calls = a.calls[f],
                                      .cost = budget_cost(a.calls[f], &a.look),
                                      .mean = means[f],
                                      .own = times_value(&sums[f], probe_share_rest(&analysis->summary), EXCLUSIVE) };
    }
    advice_keep_cheap(&a, analysis);
    advice_fill_callers(&a, analysis);
    free(functions);
    free(chosen);
    free(means);
    free(sums);
    return a;
}

void advice_drop(struct advice *a)
{
    free(a->list);
    free(a->has);
    free(a->calls);
}

/* ---- prediction ---- */

struct advice_effect advice_predict(const struct advice *a, const bool *left_out, size_t functions, bool counted)
{
    struct advice_effect e = { .calls_left = a->all_calls };
    for (size_t i = 0; i < functions; i++) {
        if (!left_out[i] || !a->calls[i])
            continue;
        e.functions++;
        e.calls_left -= a->calls[i];
    }
    e.cost_left = budget_cost(e.calls_left, &a->look) +
                  (counted ? budget_cost_counted(a->all_calls - e.calls_left, &a->look) : 0);
    return e;
}

bool advice_is_reached(const struct advice *a, uint64_t cost)
{
    return cost <= multiply_divide(a->own, a->look.permille, 1000);
}
