/* Spreads the overhead that was subtracted from call paths over the paths' calls. */
#include "profile/path_probes.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/wide.h"

static bool path_probes_blind(const struct trace_thread *t)
{
    return t && t->announced && t->os_source == DWELL_OS_NONE;
}

static void path_probes_mark_blind(bool *blind, const struct profile *p, const struct session_file *file)
{
    for (size_t i = 0; i < p->thread_count; i++)
        blind[p->threads[i].root] = path_probes_blind(session_file_thread(file, p->threads[i].thread));
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            blind[i] = blind[p->nodes[i].parent];
}

/* If there are fewer calls than callees, each call may be one that makes calls. Otherwise each callee may be the only
 * one of its caller. That gives the sum that was subtracted. */
static struct path_probes path_probes_of_costs(const struct probe_cost *cost, uint64_t calls, uint64_t callees)
{
    struct path_probes probes = { .call = cost->in_callee, .callee = cost->in_caller, .subtracted = true };
    if (calls <= callees)
        probes.call += cost->first_callee;
    else
        probes.callee += cost->first_callee;
    const uint128 sum = (uint128)calls * probes.call + (uint128)callees * probes.callee;
    probes.rest = (uint8_t)(sum % DWELL_PROBE_FRACTION);
    return probes;
}

static struct path_probes path_probes_of_node(const struct profile_node *node, const struct probe_cost *cost,
                                              uint64_t callees, bool blind)
{
    struct path_probes probes = { 0 };
    if (cost) {
        probes = path_probes_of_costs(cost, node->calls, callees);
        probes.held = node->elapsed + node->given == node->blocked + node->preempted;
        probes.rest = probes.held ? 0 : probes.rest;
    }
    probes.first = node->first;
    probes.idle = blind || (cost && node->elapsed + node->given == node->flagged + node->given_flagged);
    return probes;
}

/* For paths without a known number of calls, by thread. */
static void path_probes_add_unknown(struct path_probes *paths, const struct session_file *file,
                                    const struct probe_cost *costs, size_t count)
{
    struct number_index *places = overhead_index_costs(costs, count);
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct index_slot *slot = index_find(places, file->threads[i].process, 0);
        if (slot->value_plus_1)
            paths[i] = (struct path_probes){ .call = costs[slot->value_plus_1 - 1].in_callee,
                                             .callee = costs[slot->value_plus_1 - 1].in_caller,
                                             .subtracted = true };
        paths[i].idle = path_probes_blind(&file->threads[i]);
    }
    index_free(places);
}

struct path_probes_table path_probes_of(const struct profile *p, const struct session_file *file,
                                        const struct probe_cost *costs, size_t count, bool recorded)
{
    struct path_probes_table table = { .known = p->node_count };
    table.paths = need_memory(p->node_count + file->thread_count + 1, sizeof *table.paths);
    bool *blind = need_memory(p->node_count, sizeof *blind);
    uint64_t *callees = overhead_callees(p, false);
    const struct probe_cost **cost = overhead_costs_of_nodes(p, costs, count);
    path_probes_mark_blind(blind, p, file);
    for (size_t i = 0; i < p->node_count; i++) {
        struct profile_node node = p->nodes[i];
        if (recorded && cost[i] && node.parent != PROFILE_NONE)
            overhead_subtract_node(&node, cost[i], callees[i], &(struct overhead){ 0 });
        table.paths[i] = path_probes_of_node(&node, cost[i], callees[i], blind[i]);
    }
    path_probes_add_unknown(table.paths + p->node_count, file, costs, count);
    free(cost);
    free(callees);
    free(blind);
    return table;
}

void path_probes_drop_rests(struct path_probes_table *table)
{
    for (size_t i = 0; i < table->known; i++)
        table->paths[i].rest = 0;
}

void call_amounts_add_interval(struct call_amounts *own, const struct path_probes *probes,
                               const struct decoded_extras *extras, uint64_t length)
{
    struct interval_parts parts = interval_parts(extras, length);
    if (probes->subtracted) {
        length -= parts.runtime;
        parts.flagged -= parts.runtime_flagged;
    }
    own->elapsed += (probes->held ? parts.blocked + parts.preempted : length) * DWELL_PROBE_FRACTION;
    own->application += probes->held || probes->idle ? 0 : (length - parts.flagged) * DWELL_PROBE_FRACTION;
    own->blocked += parts.blocked * DWELL_PROBE_FRACTION;
}
