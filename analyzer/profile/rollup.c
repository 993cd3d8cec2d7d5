/* Sums over the call tree: inclusive times, groups of call paths, callers and callees, and trees of several threads. */
#include "profile/rollup.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "dwell/format.h"
#include "profile/counted.h"
#include "profile/durations.h"
#include "profile/reported.h"

static void rollup_link_children(struct rollup *r)
{
    const struct profile *p = r->profile;
    memset(r->first_child, 0xff, p->node_count * sizeof *r->first_child);
    memset(r->sibling, 0xff, p->node_count * sizeof *r->sibling);
    for (size_t i = p->node_count; i-- > 0;) {
        uint32_t parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE)
            continue;
        r->sibling[i] = r->first_child[parent];
        r->first_child[parent] = (uint32_t)i;
    }
}

/* Parents come before their children, so one pass from the end adds up all subtrees. */
static void rollup_sum_subtrees(struct rollup *r)
{
    const struct profile *p = r->profile;
    for (size_t i = 0; i < p->node_count; i++)
        r->nodes[i] = times_of_path(&p->nodes[i]);
    for (size_t i = p->node_count; i-- > 0;) {
        if (p->nodes[i].site != PROFILE_SAMPLED) /* what is estimated below it adds up to a measured time */
            times_set_measured(&r->nodes[i]);
        if (p->nodes[i].parent != PROFILE_NONE) {
            times_add_inclusive(&r->nodes[p->nodes[i].parent], &r->nodes[i]);
        } else {
            times_add_inclusive(&r->session, &r->nodes[i]);
        }
        times_add_own(&r->session, &r->nodes[i]);
    }
}

struct rollup *rollup_new(const struct profile *profile)
{
    struct rollup *r = need_memory(1, sizeof *r);
    r->profile = profile;
    r->nodes = need_memory(profile->node_count, sizeof *r->nodes);
    r->first_child = need_memory(profile->node_count, sizeof *r->first_child);
    r->sibling = need_memory(profile->node_count, sizeof *r->sibling);
    r->session = times_of_nothing();
    rollup_link_children(r);
    rollup_sum_subtrees(r);
    for (size_t i = 0; i < profile->counted_count; i++)
        counted_add_to(&r->session, profile->counted[i].calls);
    return r;
}

void rollup_free(struct rollup *r)
{
    free(r->nodes);
    free(r->first_child);
    free(r->sibling);
    free(r);
}

/* ---- depth-first walk ---- */

/* Calls enter(node) before and leave(node) after the node's children, for all nodes but roots. */
struct rollup_visitor {
    void (*enter)(struct rollup_visitor *v, uint32_t node);
    void (*leave)(struct rollup_visitor *v, uint32_t node);
    const struct rollup *rollup;
};

static void rollup_walk_nodes(const struct rollup *r, struct rollup_visitor *v)
{
    const struct profile *p = r->profile;
    v->rollup = r;
    for (size_t i = 0; i < p->thread_count; i++) {
        const uint32_t root = p->threads[i].root;
        uint32_t node = r->first_child[root];
        while (node != PROFILE_NONE) {
            v->enter(v, node);
            uint32_t next = r->first_child[node];
            while (next == PROFILE_NONE && node != root) {
                v->leave(v, node);
                next = r->sibling[node];
                if (next == PROFILE_NONE)
                    node = p->nodes[node].parent;
                if (node == root)
                    break;
            }
            node = next;
        }
    }
}

/* ---- groups ---- */

struct grouping {
    struct rollup_visitor visitor;
    const uint32_t *group_of; /* by node */
    uint32_t *open;           /* by group: how often it is on the stack */
    struct times *sums;       /* by group */
};

static void rollup_enter_group(struct rollup_visitor *v, uint32_t node)
{
    struct grouping *g = (struct grouping *)v;
    uint32_t group = g->group_of[node];
    const struct times *times = &v->rollup->nodes[node];
    times_add_own(&g->sums[group], times);
    if (g->open[group]++ == 0)
        times_add_inclusive(&g->sums[group], times);
}

static void rollup_leave_group(struct rollup_visitor *v, uint32_t node)
{
    struct grouping *g = (struct grouping *)v;
    g->open[g->group_of[node]]--;
}

uint32_t *rollup_process_list(const struct profile *p, size_t *count)
{
    uint32_t *list = need_memory(p->thread_count, sizeof *list);
    for (size_t i = 0; i < p->thread_count; i++)
        list[i] = p->threads[i].process;
    qsort(list, p->thread_count, sizeof *list, compare_numbers_32);
    *count = 0;
    for (size_t i = 0; i < p->thread_count; i++)
        if (*count == 0 || list[*count - 1] != list[i])
            list[(*count)++] = list[i];
    return list;
}

static uint32_t rollup_process_index(const uint32_t *list, size_t count, uint32_t serial)
{
    const uint32_t *found = bsearch(&serial, list, count, sizeof *list, compare_numbers_32);
    return (uint32_t)(found - list);
}

static void rollup_group_roots(const struct profile *p, enum rollup_by by, uint32_t *group_of)
{
    size_t count;
    uint32_t *processes = rollup_process_list(p, &count);
    for (size_t i = 0; i < p->thread_count; i++)
        group_of[p->threads[i].root] =
            by == BY_THREAD ? (uint32_t)i : rollup_process_index(processes, count, p->threads[i].process);
    free(processes);
}

static uint32_t *rollup_group_nodes(const struct profile *p, enum rollup_by by)
{
    uint32_t *group_of = need_memory(p->node_count, sizeof *group_of);
    rollup_group_roots(p, by, group_of);
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        if (by == BY_FUNCTION)
            group_of[i] = node->function;
        else if (by == BY_MODULE)
            group_of[i] = p->functions[node->function].module;
        else if (by == BY_LINE)
            group_of[i] = node->site >= PROFILE_SAMPLED ? (uint32_t)p->site_count : node->site;
        else
            group_of[i] = group_of[node->parent];
    }
    return group_of;
}

size_t rollup_group_count(const struct rollup *r, enum rollup_by by)
{
    const struct profile *p = r->profile;
    size_t count = 0;
    switch (by) {
    case BY_FUNCTION:
        return p->function_count;
    case BY_MODULE:
        return p->module_count;
    case BY_THREAD:
        return p->thread_count;
    case BY_PROCESS:
        free(rollup_process_list(p, &count));
        break;
    case BY_LINE:
        return p->site_count + 1;
    }
    return count;
}

static struct times *rollup_new_sums(size_t count)
{
    struct times *sums = need_memory(count, sizeof *sums);
    for (size_t i = 0; i < count; i++)
        sums[i] = times_of_nothing();
    return sums;
}

/* Calls that were only counted have no site. */
static void rollup_add_counted(const struct profile *p, enum rollup_by by, const uint32_t *group_of, struct times *sums)
{
    for (size_t i = 0; i < p->counted_count; i++) {
        const struct profile_counted *c = &p->counted[i];
        uint32_t group = group_of[p->threads[c->thread].root];
        if (by == BY_FUNCTION)
            group = c->function;
        else if (by == BY_MODULE)
            group = p->functions[c->function].module;
        else if (by == BY_LINE)
            group = (uint32_t)p->site_count;
        counted_add_to(&sums[group], c->calls);
    }
}

struct times *rollup_groups(const struct rollup *r, enum rollup_by by)
{
    size_t count = rollup_group_count(r, by);
    uint32_t *group_of = rollup_group_nodes(r->profile, by);
    struct grouping g = {
        .visitor = { .enter = rollup_enter_group, .leave = rollup_leave_group },
        .group_of = group_of,
        .open = need_memory(count, sizeof *g.open),
        .sums = rollup_new_sums(count),
    };
    rollup_walk_nodes(r, &g.visitor);
    rollup_add_counted(r->profile, by, group_of, g.sums);
    free(g.open);
    free(group_of);
    if (by == BY_FUNCTION)
        reported_functions(r->profile, g.sums);
    else if (by == BY_MODULE)
        reported_modules(r->profile, g.sums);
    return g.sums;
}

/* ---- neighbours ---- */

/* The callers or the callees, with their sums. */
struct neighbour_sums {
    struct number_index *places; /* (function, site) -> index in the list */
    struct neighbour *list;
    uint32_t *open; /* how often the neighbour is on the stack as a callee */
    size_t count, room, open_room;
};

struct neighbour_walk {
    struct rollup_visitor visitor;
    uint32_t function;
    uint32_t open; /* how often the function is on the stack */
    struct neighbour_sums callers, callees;
};

/* Finds a neighbour, or makes it. The pointer is valid until another neighbour is made. */
static struct neighbour *rollup_find_neighbour(struct neighbour_sums *sums, uint32_t function, uint32_t site)
{
    struct index_slot *slot = index_find(sums->places, function, site);
    if (slot->value_plus_1)
        return &sums->list[slot->value_plus_1 - 1];
    GROW(sums->list, sums->count, sums->room);
    GROW(sums->open, sums->count, sums->open_room);
    sums->list[sums->count] = (struct neighbour){ .function = function, .site = site, .times = times_of_nothing() };
    sums->open[sums->count] = 0;
    index_set(sums->places, slot, function, site, (uint32_t)sums->count);
    return &sums->list[sums->count++];
}

static uint32_t *rollup_open_count(struct neighbour_sums *sums, const struct neighbour *n)
{
    return &sums->open[n - sums->list];
}

static uint32_t rollup_parent_function(const struct profile *p, uint32_t node)
{
    return p->nodes[p->nodes[node].parent].function;
}

static void rollup_enter_neighbour(struct rollup_visitor *v, uint32_t node)
{
    struct neighbour_walk *w = (struct neighbour_walk *)v;
    const struct profile *p = v->rollup->profile;
    const struct times *times = &v->rollup->nodes[node];
    const uint32_t function = p->nodes[node].function, site = p->nodes[node].site,
                   caller = rollup_parent_function(p, node);
    if (caller == w->function) {
        struct neighbour *callee = rollup_find_neighbour(&w->callees, function, site);
        times_add_own(&callee->times, times);
        durations_merge(&callee->durations, p->nodes[node].durations);
        if ((*rollup_open_count(&w->callees, callee))++ == 0)
            times_add_inclusive(&callee->times, times);
    }
    if (function == w->function) {
        struct neighbour *called_from = rollup_find_neighbour(&w->callers, caller, site);
        times_add_own(&called_from->times, times);
        durations_merge(&called_from->durations, p->nodes[node].durations);
        if (w->open++ == 0)
            times_add_inclusive(&called_from->times, times);
    }
}

static void rollup_leave_neighbour(struct rollup_visitor *v, uint32_t node)
{
    struct neighbour_walk *w = (struct neighbour_walk *)v;
    const struct profile *p = v->rollup->profile;
    if (rollup_parent_function(p, node) == w->function)
        (*rollup_open_count(&w->callees,
                            rollup_find_neighbour(&w->callees, p->nodes[node].function, p->nodes[node].site)))--;
    if (p->nodes[node].function == w->function)
        w->open--;
}

/* Takes the list out of the sums, without the neighbours that have no values. */
static struct neighbour *rollup_pick_neighbours(struct neighbour_sums *sums, size_t *picked)
{
    struct neighbour *list = sums->list ? sums->list : need_memory(1, sizeof *list);
    *picked = 0;
    for (size_t i = 0; i < sums->count; i++)
        if (list[i].times.calls || list[i].times.elapsed_inclusive || list[i].times.elapsed_exclusive)
            list[(*picked)++] = list[i];
        else
            free(list[i].durations);
    index_free(sums->places);
    free(sums->open);
    return list;
}

static void rollup_add_reported_row(struct neighbour *n, const struct profile_reported *row)
{
    times_add(&n->times, &row->times);
    n->stated = n->reported++ == 0 ? &row->stated : NULL;
}

static void rollup_add_reported(const struct profile *p, struct neighbour_walk *w)
{
    for (size_t i = 0; i < p->reported_count; i++) {
        const struct profile_reported *row = &p->reported[i];
        if (row->function != w->function)
            continue;
        if (row->kind == DWELL_REPORTED_CALLER)
            rollup_add_reported_row(rollup_find_neighbour(&w->callers, row->other, PROFILE_NONE), row);
        else if (row->kind == DWELL_REPORTED_CALLEE)
            rollup_add_reported_row(rollup_find_neighbour(&w->callees, row->other, PROFILE_NONE), row);
    }
}

struct neighbours rollup_neighbours(const struct rollup *r, uint32_t function)
{
    struct neighbour_walk w = {
        .visitor = { .enter = rollup_enter_neighbour, .leave = rollup_leave_neighbour },
        .function = function,
        .callers.places = index_new(),
        .callees.places = index_new(),
    };
    if (reported_has_edges(r->profile))
        rollup_add_reported(r->profile, &w);
    else
        rollup_walk_nodes(r, &w.visitor);
    struct neighbours n;
    n.callers = rollup_pick_neighbours(&w.callers, &n.caller_count);
    n.callees = rollup_pick_neighbours(&w.callees, &n.callee_count);
    return n;
}

void neighbours_free(struct neighbours *n)
{
    for (size_t i = 0; i < n->caller_count; i++)
        free(n->callers[i].durations);
    for (size_t i = 0; i < n->callee_count; i++)
        free(n->callees[i].durations);
    free(n->callers);
    free(n->callees);
}

/* ---- joined threads ---- */

struct profile *rollup_join_threads(const struct profile *p)
{
    struct profile *one = profile_new();
    struct profile view = *p; /* the same, but with the serial numbers of one thread for all */
    view.threads = need_memory(p->thread_count, sizeof *view.threads);
    for (size_t i = 0; i < p->thread_count; i++)
        view.threads[i] = (struct profile_thread){ .root = p->threads[i].root };
    profile_merge(one, &view);
    free(view.threads);
    return one;
}

struct profile *rollup_join_process(const struct profile *p, uint32_t process)
{
    struct profile *one = profile_new();
    uint32_t *places = need_memory(p->node_count, sizeof *places);
    memset(places, 0xff, p->node_count * sizeof *places);
    profile_copy_functions(one, p);
    const uint32_t root = profile_root(one, process, 0);
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].process == process)
            places[p->threads[i].root] = root;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *from = &p->nodes[i];
        if (from->parent != PROFILE_NONE && places[from->parent] != PROFILE_NONE)
            places[i] = profile_child_from(one, places[from->parent], from->function, from->site);
        if (places[i] == PROFILE_NONE)
            continue;
        profile_add_values(&one->nodes[places[i]], from);
    }
    for (size_t i = 0; i < p->counted_count; i++)
        if (p->threads[p->counted[i].thread].process == process)
            counted_add_on(one, process, 0, p->counted[i].function, p->counted[i].calls);
    free(places);
    return one;
}
