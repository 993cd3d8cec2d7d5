/* Subtracts the probes' own time from the call paths of a profile. */
#include "profile/overhead.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/wide.h"
#include "dwell/format.h"
#include "profile/call_path.h"

/* Recursive nodes of one function and parent. They share their callees (profile/site_paths.c). */
struct sharing {
    uint64_t calls, callees; /* sums over these nodes */
    uint64_t dealt;          /* calls of the nodes that have had their share */
};

/* A node's share of the callees, in proportion to its calls. The shares add up to all callees. */
static uint64_t overhead_share_of(struct sharing *s, uint64_t calls)
{
    const uint64_t before = multiply_divide(s->callees, s->dealt, s->calls);
    s->dealt += calls;
    return multiply_divide(s->callees, s->dealt, s->calls) - before;
}

static void overhead_share_callees(const struct profile *p, uint64_t *callees)
{
    struct number_index *table = index_new();
    struct sharing *sharings = need_memory(p->node_count, sizeof *sharings);
    uint32_t *sharing_of = need_memory(p->node_count, sizeof *sharing_of), count = 0;
    bool *recursive = call_path_find_recursive(p);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        sharing_of[i] = PROFILE_NONE;
        if (!recursive[i])
            continue;
        struct index_slot *slot = index_find(table, node->function, node->parent);
        if (!slot->value_plus_1)
            index_set(table, slot, node->function, node->parent, count++);
        sharing_of[i] = index_find(table, node->function, node->parent)->value_plus_1 - 1;
        sharings[sharing_of[i]].calls += node->calls;
        sharings[sharing_of[i]].callees += callees[i];
    }
    for (uint32_t i = 0; i < p->node_count; i++)
        if (sharing_of[i] != PROFILE_NONE && sharings[sharing_of[i]].calls)
            callees[i] = overhead_share_of(&sharings[sharing_of[i]], p->nodes[i].calls);
    free(recursive);
    free(sharing_of);
    free(sharings);
    index_free(table);
}

uint64_t *overhead_callees(const struct profile *p, bool sites)
{
    uint64_t *callees = need_memory(p->node_count, sizeof *callees);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            callees[p->nodes[i].parent] += p->nodes[i].calls;
    if (sites)
        overhead_share_callees(p, callees);
    return callees;
}

/* The first costs of a process count. */
struct number_index *overhead_index_costs(const struct probe_cost *costs, size_t count)
{
    struct number_index *places = index_new();
    for (size_t i = count; i-- > 0;) {
        struct index_slot *slot = index_find(places, costs[i].process, 0);
        if (slot->value_plus_1)
            slot->value_plus_1 = (uint32_t)i + 1;
        else
            index_set(places, slot, costs[i].process, 0, (uint32_t)i);
    }
    return places;
}

const struct probe_cost **overhead_costs_of_nodes(const struct profile *p, const struct probe_cost *costs, size_t count)
{
    const struct probe_cost **list = need_memory(p->node_count, sizeof *list);
    struct number_index *places = overhead_index_costs(costs, count);
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct index_slot *slot = index_find(places, p->threads[i].process, 0);
        list[p->threads[i].root] = slot->value_plus_1 ? &costs[slot->value_plus_1 - 1] : NULL;
    }
    index_free(places);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            list[i] = list[p->nodes[i].parent];
    return list;
}

uint64_t overhead_in_caller(const struct probe_cost *cost, uint64_t callees)
{
    return (uint64_t)((uint128)callees * cost->in_caller / DWELL_PROBE_FRACTION);
}

/* In ticks. The number of calls that made calls themselves is unknown: at most as many as there are callees. */
static uint64_t overhead_expected(const struct probe_cost *cost, uint64_t calls, uint64_t callees)
{
    const uint128 sum = (uint128)calls * cost->in_callee + (uint128)callees * cost->in_caller +
                        (uint128)smaller(calls, callees) * cost->first_callee;
    return (uint64_t)(sum / DWELL_PROBE_FRACTION);
}

static uint64_t overhead_off_cpu(const struct profile_node *node)
{
    return smaller(node->blocked + node->preempted, node->elapsed);
}

/* Subtracts the runtime's recorded work. */
static uint64_t overhead_subtract_runtime(struct profile_node *node)
{
    const uint64_t taken = smaller(node->runtime, node->elapsed - overhead_off_cpu(node));
    node->elapsed -= taken;
    node->flagged = smaller(less(node->flagged, node->runtime_flagged), node->elapsed);
    node->runtime = node->runtime_flagged = 0;
    node->overhead += taken;
    return taken;
}

/* Few probes are in flagged intervals, and which ones is unknown. So the overhead is subtracted from the unflagged time
 * first. Off-CPU time contains no probes. */
static uint64_t overhead_subtract_probes(struct profile_node *node, uint64_t wanted)
{
    const uint64_t taken = smaller(wanted, node->elapsed - overhead_off_cpu(node));
    const uint64_t application = node->elapsed - node->flagged;
    node->elapsed -= taken;
    if (taken > application)
        node->flagged -= taken - application;
    node->overhead += taken;
    return taken;
}

void overhead_subtract_node(struct profile_node *node, const struct probe_cost *cost, uint64_t callees,
                            struct overhead *sum)
{
    sum->subtracted += overhead_subtract_runtime(node);
    const uint64_t wanted = overhead_expected(cost, node->calls, callees);
    if (!wanted)
        return;
    const uint64_t taken = overhead_subtract_probes(node, wanted);
    sum->subtracted += taken;
    sum->missing += wanted - taken;
    sum->paths++;
    sum->held += taken < wanted;
}

struct overhead overhead_subtract(struct profile *p, const struct probe_cost *costs, size_t count, bool sites)
{
    struct overhead sum = { 0, 0, 0, 0 };
    if (!count)
        return sum;
    uint64_t *callees = overhead_callees(p, sites);
    const struct probe_cost **cost = overhead_costs_of_nodes(p, costs, count);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE && cost[i])
            overhead_subtract_node(&p->nodes[i], cost[i], callees[i], &sum);
    free(cost);
    free(callees);
    return sum;
}
