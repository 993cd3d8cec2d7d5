/* Moves the callees that recursive calls share below one of these calls: the same one, however a session was read. */
#include "profile/shared_callees.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/call_path.h"

struct settling {
    const struct profile *from;
    struct profile *tree;           /* only threads and nodes; functions and sites have the numbers of `from` */
    const bool *recursive;          /* by node of `from` */
    uint32_t *ranks;                /* by site: its place by module and address */
    uint32_t *depths, *places;      /* by node of `from`: the place is its node in the tree */
    uint32_t *owners;               /* by node of the tree: the node that has its callees */
    struct number_index *recursion; /* (function, parent) of recursive calls -> the one that has the callees */
};

/* ---- the order of sites ---- */

static int shared_callees_compare_modules(const struct profile_module *x, const struct profile_module *y)
{
    if (x->build_id_length != y->build_id_length)
        return x->build_id_length < y->build_id_length ? -1 : 1;
    const int order = strcmp(x->path, y->path);
    return order ? order : memcmp(x->build_id, y->build_id, x->build_id_length);
}

static int shared_callees_compare_sites(const void *a, const void *b, void *context)
{
    const struct profile *p = context;
    const struct profile_site *x = &p->sites[*(const uint32_t *)a], *y = &p->sites[*(const uint32_t *)b];
    if (x->module != y->module)
        return shared_callees_compare_modules(&p->modules[x->module], &p->modules[y->module]);
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->inlined - y->inlined;
}

static uint32_t *shared_callees_rank_sites(const struct profile *p)
{
    uint32_t *sorted = need_memory(p->site_count, sizeof *sorted), *ranks = need_memory(p->site_count, sizeof *ranks);
    for (uint32_t i = 0; i < p->site_count; i++)
        sorted[i] = i;
    if (p->site_count)
        qsort_r(sorted, p->site_count, sizeof *sorted, shared_callees_compare_sites, (void *)p);
    for (uint32_t i = 0; i < p->site_count; i++)
        ranks[sorted[i]] = i;
    free(sorted);
    return ranks;
}

/* ---- the tree ---- */

/* The new parent of a node. Paths that are known by samples are never shared. */
static uint32_t shared_callees_parent(const struct settling *s, const struct profile_node *node)
{
    const uint32_t place = s->places[node->parent];
    return node->site == PROFILE_SAMPLED ? place : s->owners[place];
}

static uint32_t shared_callees_rank(const struct settling *s, const struct profile_node *node)
{
    return node->site < PROFILE_SAMPLED ? s->ranks[node->site] : node->site;
}

static int shared_callees_compare_nodes(const void *a, const void *b, void *context)
{
    const struct settling *s = context;
    const struct profile_node *x = &s->from->nodes[*(const uint32_t *)a], *y = &s->from->nodes[*(const uint32_t *)b];
    const uint32_t first[] = { shared_callees_parent(s, x), x->function, shared_callees_rank(s, x) };
    const uint32_t second[] = { shared_callees_parent(s, y), y->function, shared_callees_rank(s, y) };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (first[i] != second[i])
            return first[i] < second[i] ? -1 : 1;
    return 0;
}

static void shared_callees_place(struct settling *s, uint32_t number)
{
    const struct profile_node *node = &s->from->nodes[number];
    const uint32_t parent = shared_callees_parent(s, node);
    const uint32_t place = s->places[number] = profile_child_from(s->tree, parent, node->function, node->site);
    profile_add_values(&s->tree->nodes[place], node);
    s->owners[place] = place;
    if (!s->recursive[number] || node->site == PROFILE_SAMPLED)
        return;
    struct index_slot *slot = index_find(s->recursion, node->function, parent);
    if (!slot->value_plus_1)
        index_set(s->recursion, slot, node->function, parent, place);
    s->owners[place] = index_find(s->recursion, node->function, parent)->value_plus_1 - 1;
}

static void shared_callees_place_roots(struct settling *s)
{
    for (size_t i = 0; i < s->from->thread_count; i++) {
        const struct profile_thread *t = &s->from->threads[i];
        const uint32_t root = s->places[t->root] = profile_root(s->tree, t->process, t->thread);
        profile_add_values(&s->tree->nodes[root], &s->from->nodes[t->root]);
        s->owners[root] = root;
    }
}

/* The nodes that are no roots, by depth. Parents come before their children. `ends` receives where each depth ends. */
static uint32_t *shared_callees_by_depth(struct settling *s, size_t **ends, uint32_t *deepest)
{
    const struct profile *p = s->from;
    *deepest = 0;
    for (size_t i = 0; i < p->node_count; i++) {
        s->depths[i] = p->nodes[i].parent == PROFILE_NONE ? 0 : s->depths[p->nodes[i].parent] + 1;
        *deepest = s->depths[i] > *deepest ? s->depths[i] : *deepest;
    }
    size_t *at = *ends = need_memory((size_t)*deepest + 2, sizeof *at);
    for (size_t i = 0; i < p->node_count; i++)
        at[s->depths[i] + 1]++;
    for (uint32_t depth = 1; depth <= *deepest + 1; depth++)
        at[depth] += at[depth - 1];
    uint32_t *list = need_memory(p->node_count, sizeof *list);
    for (uint32_t i = 0; i < p->node_count; i++)
        list[at[s->depths[i]]++] = i;
    return list;
}

/* All calls of a depth have their places before those below them get theirs. */
static void shared_callees_place_calls(struct settling *s)
{
    size_t *ends;
    uint32_t deepest, *list = shared_callees_by_depth(s, &ends, &deepest);
    for (uint32_t depth = 1; depth <= deepest; depth++) {
        const size_t begin = ends[depth - 1], end = ends[depth];
        qsort_r(list + begin, end - begin, sizeof *list, shared_callees_compare_nodes, s);
        for (size_t i = begin; i < end; i++)
            shared_callees_place(s, list[i]);
    }
    free(list);
    free(ends);
}

/* Gives the profile the tree's nodes, and the tree those of the profile. */
static void shared_callees_take_tree(struct profile *p, struct profile *tree, const uint32_t *places)
{
    const struct profile old = *p;
    for (size_t i = 0; i < p->thread_count; i++)
        p->threads[i].root = places[p->threads[i].root];
    for (size_t i = 0; i < p->mark_count; i++)
        p->marks[i].node = places[p->marks[i].node];
    p->nodes = tree->nodes;
    p->node_count = tree->node_count;
    p->node_room = tree->node_room;
    p->node_table = tree->node_table;
    tree->nodes = old.nodes;
    tree->node_table = old.node_table;
}

void shared_callees_settle(struct profile *p)
{
    bool *recursive = call_path_find_recursive(p);
    struct settling s = {
        .from = p,
        .tree = profile_new(),
        .recursive = recursive,
        .ranks = shared_callees_rank_sites(p),
        .depths = need_memory(p->node_count, sizeof *s.depths),
        .places = need_memory(p->node_count, sizeof *s.places),
        .owners = need_memory(p->node_count, sizeof *s.owners),
        .recursion = index_new(),
    };
    shared_callees_place_roots(&s);
    shared_callees_place_calls(&s);
    shared_callees_take_tree(p, s.tree, s.places);
    profile_free(s.tree);
    index_free(s.recursion);
    free(recursive);
    free(s.ranks);
    free(s.depths);
    free(s.places);
    free(s.owners);
}
