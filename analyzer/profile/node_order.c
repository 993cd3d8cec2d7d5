/* Numbers are replaced by ranks once, so that callees are compared quickly. */
#include "profile/node_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "profile/profile.h"

struct node_order {
    const struct profile *profile;
    uint32_t *functions, *sites; /* ranks */
    uint32_t *first, *next;      /* lists of callees, by node; PROFILE_NONE at the end */
};

struct ranking {
    const struct profile *profile;
    const uint32_t *modules; /* ranks */
};

static int order_compare_modules(const void *a, const void *b, void *context)
{
    const struct profile *p = context;
    return profile_compare_modules(&p->modules[*(const uint32_t *)a], &p->modules[*(const uint32_t *)b]);
}

static int order_compare_functions(const void *a, const void *b, void *context)
{
    const struct ranking *r = context;
    const struct profile_function *x = &r->profile->functions[*(const uint32_t *)a];
    const struct profile_function *y = &r->profile->functions[*(const uint32_t *)b];
    if (x->module != y->module)
        return r->modules[x->module] < r->modules[y->module] ? -1 : 1;
    return ORDER_BY(x, y, offset);
}

static int order_compare_sites(const void *a, const void *b, void *context)
{
    const struct ranking *r = context;
    const struct profile_site *x = &r->profile->sites[*(const uint32_t *)a];
    const struct profile_site *y = &r->profile->sites[*(const uint32_t *)b];
    if (x->module != y->module)
        return r->modules[x->module] < r->modules[y->module] ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->inlined - y->inlined;
}

static int order_compare_threads(const void *a, const void *b, void *context)
{
    const struct profile *p = context;
    const struct profile_thread *x = &p->threads[*(const uint32_t *)a], *y = &p->threads[*(const uint32_t *)b];
    return ORDER_BY(x, y, process, thread);
}

/* Numbers below `count` in their order. */
static uint32_t *order_sort(size_t count, int (*compare)(const void *, const void *, void *), const void *context)
{
    uint32_t *list = need_memory(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (uint32_t)i;
    qsort_r(list, count, sizeof *list, compare, (void *)context);
    return list;
}

/* By number: its place in the order. */
static uint32_t *order_rank(size_t count, int (*compare)(const void *, const void *, void *), const void *context)
{
    uint32_t *list = order_sort(count, compare, context), *ranks = need_memory(count + 1, sizeof *ranks);
    for (size_t i = 0; i < count; i++)
        ranks[list[i]] = (uint32_t)i;
    free(list);
    return ranks;
}

static int order_compare_callees(const void *a, const void *b, void *context)
{
    const struct node_order *o = context;
    const struct profile_node *x = &o->profile->nodes[*(const uint32_t *)a];
    const struct profile_node *y = &o->profile->nodes[*(const uint32_t *)b];
    if (x->function != y->function)
        return o->functions[x->function] < o->functions[y->function] ? -1 : 1;
    const uint32_t sites[] = { x->site < PROFILE_SAMPLED ? o->sites[x->site] : x->site,
                               y->site < PROFILE_SAMPLED ? o->sites[y->site] : y->site };
    return ORDER(sites[0], sites[1]);
}

static void order_link_callees(struct node_order *o)
{
    const struct profile *p = o->profile;
    const size_t size = p->node_count * sizeof(uint32_t);
    o->first = need_memory(size + 1, 1);
    o->next = need_memory(size + 1, 1);
    memset(o->first, 0xff, size);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const uint32_t parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE)
            continue;
        o->next[i] = o->first[parent];
        o->first[parent] = i;
    }
}

/* Appends a thread's nodes to the list, and returns the list's new length. */
static size_t order_append_thread(const struct node_order *o, uint32_t root, uint32_t *list, size_t count)
{
    size_t place = count;
    for (list[count++] = root; place < count; place++) {
        size_t length = 0;
        for (uint32_t i = o->first[list[place]]; i != PROFILE_NONE; i = o->next[i])
            list[count + length++] = i;
        if (length > 1)
            qsort_r(list + count, length, sizeof *list, order_compare_callees, (void *)o);
        count += length;
    }
    return count;
}

uint32_t *node_order_list(const struct profile *p)
{
    uint32_t *modules = order_rank(p->module_count, order_compare_modules, p);
    const struct ranking ranking = { p, modules };
    struct node_order o = {
        .profile = p,
        .functions = order_rank(p->function_count, order_compare_functions, &ranking),
        .sites = order_rank(p->site_count, order_compare_sites, &ranking),
    };
    free(modules);
    order_link_callees(&o);
    uint32_t *threads = order_sort(p->thread_count, order_compare_threads, p);
    uint32_t *list = need_memory(p->node_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < p->thread_count; i++)
        count = order_append_thread(&o, p->threads[threads[i]].root, list, count);
    free(threads);
    free(o.functions);
    free(o.sites);
    free(o.first);
    free(o.next);
    return list;
}
