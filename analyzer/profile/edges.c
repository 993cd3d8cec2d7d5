/* The callers and callees of all functions of a process: one walk over its call tree, then an import's reported rows.
 */
#include "profile/edges.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "dwell/format.h"
#include "profile/counted.h"
#include "profile/reported.h"

enum { FIRST_EDGES = 64 };

struct edges_walk {
    const struct rollup *rollup;
    struct edges *edges;
    struct number_index *index; /* of edges, by callee and caller */
    uint32_t *edge_of;          /* by node */
    uint32_t *open;             /* by function: how often it is on the stack */
    uint32_t *edge_open;        /* by edge: the same; there are at most as many edges as nodes */
};

static struct call_sums edges_no_calls(void)
{
    return (struct call_sums){ .times = times_of_nothing(), .every_known = true };
}

static uint32_t edges_find_between(struct edges_walk *w, uint32_t caller, uint32_t callee)
{
    struct edges *e = w->edges;
    struct index_slot *slot = index_find(w->index, callee, caller);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(e->list, e->count, e->room);
    e->list[e->count] = (struct edge){ caller, callee, edges_no_calls(), edges_no_calls() };
    index_set(w->index, slot, callee, caller, (uint32_t)e->count);
    return (uint32_t)e->count++;
}

static void edges_add_times(struct call_sums *into, const struct times *from, bool outermost)
{
    times_add_own(&into->times, from);
    if (outermost)
        times_add_inclusive(&into->times, from);
    into->every_elapsed += from->elapsed_inclusive;
    into->every_application += from->application_inclusive;
}

static void edges_enter_node(struct edges_walk *w, uint32_t node)
{
    const struct profile *p = w->rollup->profile;
    const struct times *times = &w->rollup->nodes[node];
    const uint32_t function = p->nodes[node].function, caller = p->nodes[p->nodes[node].parent].function;
    const uint32_t edge = edges_find_between(w, caller, function);
    const bool outermost = w->open[function]++ == 0, outermost_of_edge = w->edge_open[edge]++ == 0;
    w->edge_of[node] = edge;
    w->edges->seen[function] = true;
    edges_add_times(&w->edges->functions[function], times, outermost);
    edges_add_times(&w->edges->list[edge].of_callee, times, outermost);
    if (caller != PROFILE_NONE)
        edges_add_times(&w->edges->list[edge].of_edge, times, outermost_of_edge);
}

static void edges_leave_node(struct edges_walk *w, uint32_t node)
{
    w->open[w->rollup->profile->nodes[node].function]--;
    w->edge_open[w->edge_of[node]]--;
}

/* Walks depth first without recursion, since trees can be deep. */
static void edges_walk_thread(struct edges_walk *w, uint32_t root)
{
    const struct rollup *r = w->rollup;
    uint32_t node = root;
    for (;;) {
        uint32_t next = r->first_child[node];
        while (next == PROFILE_NONE && node != root) {
            edges_leave_node(w, node);
            next = r->sibling[node];
            node = r->profile->nodes[node].parent;
        }
        if (next == PROFILE_NONE)
            return;
        edges_enter_node(w, next);
        node = next;
    }
}

/* Calls that were only counted have no known callers. */
static void edges_add_counted(struct edges *e, const struct profile *p, uint32_t process)
{
    for (size_t i = 0; i < p->counted_count; i++) {
        const struct profile_counted *c = &p->counted[i];
        if (p->threads[c->thread].process != process)
            continue;
        counted_add_to(&e->functions[c->function].times, c->calls);
        e->seen[c->function] = true;
    }
}

/* An imported report has no inclusive times of all calls. */
static void edges_add_reported(struct call_sums *into, const struct profile_reported *row)
{
    into->every_known = false;
    into->stated = into->reported++ == 0 ? &row->stated : NULL;
    times_add(&into->times, &row->times);
}

static void edges_add_reported_rows(struct edges_walk *w, uint32_t process)
{
    const struct profile *p = w->rollup->profile;
    struct edges *e = w->edges;
    bool *begun = need_memory(p->function_count, sizeof *begun);
    for (size_t i = 0; i < p->reported_count; i++) {
        const struct profile_reported *row = &p->reported[i];
        if (row->process != process || row->kind == DWELL_REPORTED_MODULE)
            continue;
        e->seen[row->function] = true;
        if (row->kind == DWELL_REPORTED_CALLER) {
            const uint32_t edge = edges_find_between(w, row->other, row->function); /* can move the list */
            edges_add_reported(&e->list[edge].of_callee, row);
        } else if (row->kind == DWELL_REPORTED_CALLEE) {
            const uint32_t edge = edges_find_between(w, row->function, row->other);
            edges_add_reported(&e->list[edge].of_edge, row);
        } else {
            if (!begun[row->function])
                e->functions[row->function] = edges_no_calls();
            begun[row->function] = true;
            edges_add_reported(&e->functions[row->function], row);
        }
    }
    free(begun);
}

/* An imported report's edges replace those of the call tree. */
static void edges_forget_all(struct edges_walk *w)
{
    index_free(w->index);
    w->index = index_new();
    w->edges->count = 0;
}

struct edges edges_of_process(const struct rollup *r, uint32_t process)
{
    const struct profile *p = r->profile;
    struct edges e = {
        .functions = need_memory(p->function_count, sizeof *e.functions),
        .seen = need_memory(p->function_count, sizeof *e.seen),
        .list = need_memory(FIRST_EDGES, sizeof *e.list),
        .room = FIRST_EDGES,
    };
    struct edges_walk w = {
        .rollup = r,
        .edges = &e,
        .index = index_new(),
        .edge_of = need_memory(p->node_count, sizeof *w.edge_of),
        .open = need_memory(p->function_count, sizeof *w.open),
        .edge_open = need_memory(p->node_count, sizeof *w.edge_open),
    };
    for (size_t i = 0; i < p->function_count; i++)
        e.functions[i] = edges_no_calls();
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].process == process)
            edges_walk_thread(&w, p->threads[i].root);
    if (reported_has_edges(p))
        edges_forget_all(&w);
    edges_add_reported_rows(&w, process);
    edges_add_counted(&e, p, process);
    index_free(w.index);
    free(w.edge_of);
    free(w.open);
    free(w.edge_open);
    return e;
}

void edges_free(struct edges *e)
{
    free(e->functions);
    free(e->seen);
    free(e->list);
}
