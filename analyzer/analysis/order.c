/* Sorts a session's functions, modules, threads and call paths into a fixed order, and walks over the call paths. */
#include "analysis/order.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/lines.h"
#include "base/memory.h"
#include "base/sorted.h"

/* ---- order ---- */

static int order_compare_functions(const void *a, const void *b, void *data)
{
    const struct analysis *analysis = data;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct profile_function *f = &analysis->profile->functions[x], *g = &analysis->profile->functions[y];
    int result = strcmp(analysis->names[x].name, analysis->names[y].name);
    if (result == 0)
        result =
            profile_compare_modules(&analysis->profile->modules[f->module], &analysis->profile->modules[g->module]);
    return result ? result : ORDER(f->offset, g->offset);
}

static int order_compare_module_indices(const void *a, const void *b, void *data)
{
    const struct profile *p = data;
    return profile_compare_modules(&p->modules[*(const uint32_t *)a], &p->modules[*(const uint32_t *)b]);
}

static int order_compare_threads(const void *a, const void *b, void *data)
{
    const struct profile *p = data;
    const struct profile_thread *x = &p->threads[*(const uint32_t *)a], *y = &p->threads[*(const uint32_t *)b];
    return ORDER_BY(x, y, process, thread);
}

static uint32_t *order_sort_numbers(size_t count, int (*compare)(const void *, const void *, void *), const void *data)
{
    uint32_t *numbers = need_memory(count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    if (count)
        qsort_r(numbers, count, sizeof *numbers, compare, (void *)data);
    return numbers;
}

static uint32_t *order_make_ranks(const uint32_t *sorted, size_t count)
{
    uint32_t *ranks = need_memory(count + 1, sizeof *ranks);
    for (uint32_t i = 0; i < count; i++)
        ranks[sorted[i]] = i;
    return ranks;
}

/* The nodes without the roots of threads, in the order of their functions' ranks. */
static uint32_t *order_sort_nodes(const struct order *o, size_t *count)
{
    const struct profile *p = o->profile;
    uint32_t *sorted = need_memory(p->node_count + 1, sizeof *sorted);
    uint32_t *next = need_memory(p->function_count + 1, sizeof *next); /* by rank: where its next node goes */
    *count = 0;
    for (size_t i = 0; i < p->node_count; i++) {
        if (p->nodes[i].function == PROFILE_NONE)
            continue;
        next[o->ranks[p->nodes[i].function] + 1]++;
        (*count)++;
    }
    for (size_t i = 1; i < p->function_count; i++)
        next[i] += next[i - 1];
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].function != PROFILE_NONE)
            sorted[next[o->ranks[p->nodes[i].function]]++] = i;
    free(next);
    return sorted;
}

/* Compares calls of one function. */
static int order_compare_calls(const void *a, const void *b, void *data)
{
    const struct order *o = data;
    const struct profile_node *x = &o->profile->nodes[*(const uint32_t *)a],
                              *y = &o->profile->nodes[*(const uint32_t *)b];
    if (x->function != y->function)
        return o->ranks[x->function] < o->ranks[y->function] ? -1 : 1;
    return lines_compare(o->session, x->site, y->site);
}

static void order_link_children(struct order *o)
{
    const struct profile *p = o->profile;
    o->first_child = need_memory(p->node_count + 1, sizeof *o->first_child);
    o->sibling = need_memory(p->node_count + 1, sizeof *o->sibling);
    memset(o->first_child, 0xff, p->node_count * sizeof *o->first_child);
    memset(o->sibling, 0xff, p->node_count * sizeof *o->sibling);
    size_t count;
    uint32_t *sorted = order_sort_nodes(o, &count);
    if (o->session->lines && count)
        qsort_r(sorted, count, sizeof *sorted, order_compare_calls, o);
    while (count-- > 0) {
        const uint32_t node = sorted[count], parent = p->nodes[node].parent;
        o->sibling[node] = o->first_child[parent];
        o->first_child[parent] = node;
    }
    free(sorted);
}

struct order_weighing {
    struct order *order;
    const uint64_t *weights;
    uint32_t *places; /* by node: its place before */
};

static int order_compare_weights(const void *a, const void *b, void *data)
{
    const struct order_weighing *w = data;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (w->weights[x] != w->weights[y])
        return w->weights[x] > w->weights[y] ? -1 : 1;
    return ORDER(w->places[x], w->places[y]);
}

void order_put_heaviest_first(struct order *o, const uint64_t *weights)
{
    const size_t nodes = o->profile->node_count;
    struct order_weighing w = { o, weights, need_memory(nodes + 1, sizeof *w.places) };
    uint32_t *sorted = need_memory(nodes + 1, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < nodes; i++)
        for (uint32_t at = o->first_child[i], place = 0; at != PROFILE_NONE; at = o->sibling[at]) {
            w.places[at] = place++;
            sorted[count++] = at;
        }
    if (count)
        qsort_r(sorted, count, sizeof *sorted, order_compare_weights, &w);
    memset(o->first_child, 0xff, nodes * sizeof *o->first_child);
    while (count-- > 0) {
        const uint32_t node = sorted[count], parent = o->profile->nodes[node].parent;
        o->sibling[node] = o->first_child[parent];
        o->first_child[parent] = node;
    }
    free(sorted);
    free(w.places);
}

struct order *order_new(const struct analysis *session)
{
    struct order *o = need_memory(1, sizeof *o);
    const struct profile *p = o->profile = session->profile;
    o->session = session;
    o->functions = order_sort_numbers(p->function_count, order_compare_functions, session);
    o->ranks = order_make_ranks(o->functions, p->function_count);
    o->modules = order_sort_numbers(p->module_count, order_compare_module_indices, p);
    o->module_ranks = order_make_ranks(o->modules, p->module_count);
    o->threads = order_sort_numbers(p->thread_count, order_compare_threads, p);
    order_link_children(o);
    return o;
}

void order_free(struct order *o)
{
    free(o->functions);
    free(o->ranks);
    free(o->modules);
    free(o->module_ranks);
    free(o->threads);
    free(o->first_child);
    free(o->sibling);
    free(o);
}

/* ---- walk ---- */

/* Walks without recursion, since calls can be nested deeper than this program's stack allows. */
void order_walk(const struct order *o, const struct profile_thread *thread, struct order_visitor *v)
{
    uint32_t *path = NULL;
    size_t depth = 0, room = 0;
    uint32_t node = o->first_child[thread->root];
    while (node != PROFILE_NONE) {
        GROW(path, depth, room);
        path[depth++] = node;
        v->path = path;
        v->depth = depth;
        v->enter(v, node);
        uint32_t next = o->first_child[node];
        while (next == PROFILE_NONE && depth > 0) {
            v->depth = depth;
            if (v->leave)
                v->leave(v, path[depth - 1]);
            next = o->sibling[path[--depth]];
        }
        node = next;
    }
    free(path);
}
