/* Makes profiles of a part of a profile's call paths: those below a function, chosen ones, or those with any values. */
#include "profile/subtree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/counted.h"

static uint32_t *subtree_no_places(const struct profile *p)
{
    uint32_t *places = need_memory(p->node_count, sizeof *places);
    memset(places, 0xff, p->node_count * sizeof *places);
    return places;
}

/* By node: the index of its thread. */
static uint32_t *subtree_threads_of_nodes(const struct profile *p)
{
    uint32_t *threads = need_memory(p->node_count, sizeof *threads);
    for (size_t i = 0; i < p->thread_count; i++)
        threads[p->threads[i].root] = (uint32_t)i;
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            threads[i] = threads[p->nodes[i].parent];
    return threads;
}

static void subtree_count_node(struct profile_counts *counts, const struct profile_node *node)
{
    counts->enters += node->calls;
    counts->page_faults += node->page_faults;
    counts->blocked += node->blocked;
    counts->preempted += node->preempted;
}

struct profile *subtree_below(const struct profile *p, const bool *roots)
{
    struct profile *below = profile_new();
    uint32_t *places = subtree_no_places(p), *threads = subtree_threads_of_nodes(p);
    profile_copy_functions(below, p);
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        uint32_t parent = places[node->parent];
        if (parent == PROFILE_NONE && !roots[node->function])
            continue;
        if (parent == PROFILE_NONE)
            parent = profile_root(below, p->threads[threads[i]].process, p->threads[threads[i]].thread);
        places[i] = profile_child_from(below, parent, node->function, node->site);
        profile_add_values(&below->nodes[places[i]], node);
        subtree_count_node(&below->counts, node);
    }
    counted_copy(below, p, roots);
    below->counts.chunks = p->counts.chunks;
    below->counts.damaged_chunks = p->counts.damaged_chunks;
    below->counts.stray_exits = p->counts.stray_exits;
    free(places);
    free(threads);
    return below;
}

struct profile *subtree_kept(const struct profile *p, const bool *kept, uint32_t *nodes)
{
    struct profile *copy = profile_new();
    profile_copy_functions(copy, p);
    for (size_t i = 0; i < p->thread_count; i++)
        if (kept[p->threads[i].root])
            nodes[p->threads[i].root] = profile_root(copy, p->threads[i].process, p->threads[i].thread);
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (!kept[i] || node->parent == PROFILE_NONE)
            continue;
        nodes[i] = profile_child_from(copy, nodes[node->parent], node->function, node->site);
        profile_add_values(&copy->nodes[nodes[i]], node);
    }
    return copy;
}

void subtree_keep_callers(const struct profile *p, bool *kept)
{
    for (size_t i = p->node_count; i-- > 0;) /* children come after their parents */
        if (kept[i] && p->nodes[i].parent != PROFILE_NONE)
            kept[p->nodes[i].parent] = true;
}

static bool subtree_node_is_used(const struct profile_node *node)
{
    return node->elapsed || node->calls || node->page_faults || node->shortest <= node->longest || node->samples ||
           node->samples_in_stubs;
}

/* Adds the function to the other profile and returns its number there. */
static uint32_t subtree_copy_function(struct profile *into, const struct profile *from, uint32_t function)
{
    const struct profile_function *f = &from->functions[function];
    const struct profile_module *m = &from->modules[f->module];
    return profile_function(into, profile_module(into, m->path, m->build_id, m->build_id_length), f->offset);
}

static uint32_t subtree_copy_site(struct profile *into, const struct profile *from, uint32_t node)
{
    if (from->nodes[node].site >= PROFILE_SAMPLED)
        return from->nodes[node].site;
    const struct profile_site *s = &from->sites[from->nodes[node].site];
    const struct profile_module *m = &from->modules[s->module];
    return profile_site(into, profile_module(into, m->path, m->build_id, m->build_id_length), s->offset, s->inlined);
}

static void subtree_copy_counted(struct profile *into, const struct profile *from)
{
    for (size_t i = 0; i < from->counted_count; i++) {
        const struct profile_counted *c = &from->counted[i];
        const struct profile_thread *t = &from->threads[c->thread];
        counted_add_on(into, t->process, t->thread, subtree_copy_function(into, from, c->function), c->calls);
    }
}

struct profile *subtree_used(const struct profile *p)
{
    struct profile *used = profile_new();
    uint32_t *places = subtree_no_places(p);
    bool *wanted = need_memory(p->node_count, sizeof *wanted);
    for (size_t i = 0; i < p->node_count; i++)
        wanted[i] = subtree_node_is_used(&p->nodes[i]);
    subtree_keep_callers(p, wanted);
    for (size_t i = 0; i < p->thread_count; i++)
        if (wanted[p->threads[i].root])
            places[p->threads[i].root] = profile_root(used, p->threads[i].process, p->threads[i].thread);
    for (size_t i = 0; i < p->node_count; i++) {
        if (!wanted[i])
            continue;
        if (p->nodes[i].parent != PROFILE_NONE)
            places[i] = profile_child_from(used, places[p->nodes[i].parent],
                                           subtree_copy_function(used, p, p->nodes[i].function),
                                           subtree_copy_site(used, p, (uint32_t)i));
        profile_add_values(&used->nodes[places[i]], &p->nodes[i]);
    }
    subtree_copy_counted(used, p);
    used->counts = p->counts;
    free(places);
    free(wanted);
    return used;
}
