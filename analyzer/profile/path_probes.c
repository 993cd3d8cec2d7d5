/* Spreads the overhead that was subtracted from call paths over the paths' calls. */
#include "profile/path_probes.h"

#include <math.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/wide.h"
#include "profile/durations.h"

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

/* ---- what samples and counting took ---- */

/* Ticks outside of flagged intervals, and on the CPU in them. */
struct path_ticks {
    uint64_t application, flagged;
};

static double path_probes_part(uint64_t part, uint64_t all)
{
    return part && all ? fmin((double)part / (double)all, 1) : 0;
}

/* `left`: what is left at functions that are known by samples of what the path has given away. */
static void path_probes_find_parts(struct path_probes *probes, const struct profile_node *node,
                                   const struct path_ticks *left)
{
    const struct path_ticks own = { less(node->elapsed, node->flagged),
                                    less(less(node->flagged, node->blocked), node->preempted) },
                            given = { less(node->given, node->given_flagged), node->given_flagged };
    probes->lost = (struct path_parts){
        path_probes_part(less(given.application, left->application), own.application + given.application),
        path_probes_part(less(given.flagged, left->flagged), own.flagged + given.flagged),
    };
    probes->sampled = (struct path_parts){
        path_probes_part(left->application, own.application + left->application),
        path_probes_part(left->flagged, own.flagged + left->flagged),
    };
}

bool path_probes_are_divided(const struct profile *p)
{
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].given)
            return true;
    return false;
}

/* By timed path: what is left of what it has given away. A path that is known by samples comes after the timed one that
 * it has its time from. The caller frees the list. */
static struct path_ticks *path_probes_find_left(const struct profile *p)
{
    uint32_t *anchors = need_memory(p->node_count, sizeof *anchors);
    struct path_ticks *left = need_memory(p->node_count, sizeof *left);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        anchors[i] = node->site == PROFILE_SAMPLED ? anchors[node->parent] : i;
        if (anchors[i] == i)
            continue;
        left[anchors[i]].application += less(node->elapsed, node->flagged);
        left[anchors[i]].flagged += smaller(node->flagged, node->elapsed);
    }
    free(anchors);
    return left;
}

static void path_probes_add_parts(struct path_probes *paths, const struct profile *p)
{
    if (!path_probes_are_divided(p))
        return;
    struct path_ticks *left = path_probes_find_left(p);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].site != PROFILE_SAMPLED && p->nodes[i].given)
            path_probes_find_parts(&paths[i], &p->nodes[i], &left[i]);
    free(left);
}

static uint64_t path_probes_shortened(uint64_t limit, double part)
{
    return limit == UINT64_MAX ? limit : limit - (uint64_t)llround((double)limit * part);
}

void path_probes_shorten_calls(struct profile *p)
{
    if (!path_probes_are_divided(p))
        return;
    struct path_ticks *left = path_probes_find_left(p);
    uint64_t *lost = need_memory(p->node_count, sizeof *lost), *kept = need_memory(p->node_count, sizeof *kept);
    for (size_t i = p->node_count; i-- > 0;) { /* children come after their parents */
        struct profile_node *node = &p->nodes[i];
        if (node->site != PROFILE_SAMPLED)
            lost[i] += less(node->given, left[i].application + left[i].flagged);
        kept[i] += node->elapsed;
        const double part = path_probes_part(lost[i], lost[i] + kept[i]);
        node->shortest = path_probes_shortened(node->shortest, part);
        node->longest = path_probes_shortened(node->longest, part);
        durations_shorten(&node->durations, part);
        if (node->parent == PROFILE_NONE)
            continue;
        lost[node->parent] += lost[i];
        kept[node->parent] += kept[i];
    }
    free(kept);
    free(lost);
    free(left);
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
    path_probes_add_parts(table.paths, p);
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
                               const struct interval_parts *parts, uint64_t length)
{
    const uint64_t off_cpu = parts->blocked + parts->preempted;
    uint64_t flagged = parts->flagged;
    if (probes->subtracted) {
        length -= parts->runtime;
        flagged -= parts->runtime_flagged;
    }
    own->elapsed += (probes->held ? off_cpu : length) * DWELL_PROBE_FRACTION;
    own->application += probes->held || probes->idle ? 0 : (length - flagged) * DWELL_PROBE_FRACTION;
    own->blocked += parts->blocked * DWELL_PROBE_FRACTION;
    own->off_cpu += off_cpu * DWELL_PROBE_FRACTION;
}

void call_amounts_take_part(struct call_amounts *own, const struct path_parts *parts, uint64_t end)
{
    const uint64_t flagged = own->elapsed - own->application - own->off_cpu,
                   taken = call_amounts_part(own->application, parts->application, end);
    own->application -= taken;
    own->elapsed -= taken + call_amounts_part(flagged, parts->flagged, end);
}
