/* Joins the call trees of all threads, and lists the nodes, siblings by their inclusive elapsed time. */
#include "view/paths.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

uint32_t *paths_function_ranks(const struct profile *p, const struct analysis *analysis, const struct order *order)
{
    uint32_t *ranks = profile_find_functions(analysis->profile, p);
    for (size_t i = 0; i < p->function_count; i++)
        ranks[i] = ranks[i] == PROFILE_NONE ? PROFILE_NONE : order->ranks[ranks[i]];
    return ranks;
}

struct paths_order {
    const struct rollup *rollup;
    const uint32_t *ranks;
};

static int paths_compare_nodes(const void *a, const void *b, void *context)
{
    const struct paths_order *s = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct times *t = &s->rollup->nodes[x], *u = &s->rollup->nodes[y];
    const struct profile_node *nodes = s->rollup->profile->nodes;
    if (t->elapsed_inclusive != u->elapsed_inclusive)
        return t->elapsed_inclusive < u->elapsed_inclusive ? 1 : -1;
    if (t->calls != u->calls)
        return t->calls < u->calls ? 1 : -1;
    const uint32_t f = s->ranks[nodes[x].function], g = s->ranks[nodes[y].function];
    return ORDER(f, g);
}

struct paths_walk {
    struct paths *paths;
    struct paths_order sorting;
    uint32_t *waiting; /* nodes without a row yet, the next one last */
    size_t count, room;
};

static void paths_add_children(struct paths_walk *w, uint32_t node)
{
    const struct rollup *r = w->paths->rollup;
    const size_t before = w->count;
    for (uint32_t child = r->first_child[node]; child != PROFILE_NONE; child = r->sibling[child]) {
        GROW(w->waiting, w->count, w->room);
        w->waiting[w->count++] = child;
    }
    if (w->count == before)
        return;
    qsort_r(w->waiting + before, w->count - before, sizeof *w->waiting, paths_compare_nodes, &w->sorting);
    for (size_t first = before, last = w->count - 1; first < last; first++, last--) {
        const uint32_t node_there = w->waiting[first];
        w->waiting[first] = w->waiting[last];
        w->waiting[last] = node_there;
    }
}

struct paths paths_of(const struct analysis *analysis, const struct order *order)
{
    struct paths p = { .profile = rollup_join_threads(analysis->profile) };
    p.rollup = rollup_new(p.profile);
    const size_t room = p.profile->node_count + 1;
    p.nodes = need_memory(room, sizeof *p.nodes);
    p.parents = need_memory(room, sizeof *p.parents);
    p.functions = need_memory(room, sizeof *p.functions);
    int32_t *rows = need_memory(room, sizeof *rows); /* by node */
    uint32_t *ranks = paths_function_ranks(p.profile, analysis, order);
    struct paths_walk w = { .paths = &p, .sorting = { p.rollup, ranks } };
    for (size_t i = 0; i < p.profile->thread_count; i++) {
        rows[p.profile->threads[i].root] = -1;
        paths_add_children(&w, p.profile->threads[i].root);
    }
    while (w.count) {
        const uint32_t node = w.waiting[--w.count];
        rows[node] = (int32_t)p.count;
        p.nodes[p.count] = node;
        p.parents[p.count] = rows[p.profile->nodes[node].parent];
        p.functions[p.count++] = ranks[p.profile->nodes[node].function];
        paths_add_children(&w, node);
    }
    free(w.waiting);
    free(ranks);
    free(rows);
    return p;
}

void paths_drop(struct paths *p)
{
    rollup_free(p->rollup);
    profile_free(p->profile);
    free(p->nodes);
    free(p->parents);
    free(p->functions);
}
