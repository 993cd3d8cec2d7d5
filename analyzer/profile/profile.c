/* The profile's entries: finding and making them, and adding one profile to another. */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "dwell/format.h"
#include "profile/counted.h"
#include "profile/node_index.h"

struct profile *profile_new(void)
{
    struct profile *p = need_memory(1, sizeof *p);
    p->module_table = need_memory(1, sizeof *p->module_table);
    p->function_table = index_new();
    p->site_table = index_new();
    p->node_table = node_index_new();
    p->thread_table = index_new();
    return p;
}

void profile_drop_durations(struct profile *p)
{
    for (size_t i = 0; i < p->node_count; i++) {
        free(p->nodes[i].durations);
        p->nodes[i].durations = NULL;
    }
}

void profile_clear(struct profile *p)
{
    for (size_t i = 0; i < p->mark_count; i++)
        free(p->marks[i].text);
    profile_drop_durations(p);
    p->thread_count = p->node_count = p->mark_count = p->reported_count = p->counted_count = 0;
    p->counts = (struct profile_counts){ 0 };
    index_clear(p->thread_table);
    node_index_clear(p->node_table);
}

void profile_free(struct profile *p)
{
    profile_clear(p);
    for (size_t i = 0; i < p->module_count; i++) {
        free(p->modules[i].path);
        free(p->modules[i].build_id);
    }
    free(p->marks);
    free(p->reported);
    free(p->counted);
    intern_drop(p->module_table);
    free(p->module_table);
    index_free(p->function_table);
    index_free(p->site_table);
    node_index_free(p->node_table);
    index_free(p->thread_table);
    free(p->modules);
    free(p->functions);
    free(p->aliases);
    free(p->sites);
    free(p->threads);
    free(p->nodes);
    free(p);
}

const char *profile_module_path(const struct profile *p, uint32_t node)
{
    const uint32_t function = p->nodes[node].function;
    return function == PROFILE_NONE ? "" : p->modules[p->functions[function].module].path;
}

uint32_t profile_find_module(const struct profile *p, const char *path, const uint8_t *build_id, size_t build_id_length)
{
    return intern_find_pair(p->module_table, path, build_id, build_id_length);
}

uint32_t profile_find_function(const struct profile *p, uint32_t module, uint64_t offset)
{
    return module == PROFILE_NONE ? PROFILE_NONE : index_find(p->function_table, offset, module)->value_plus_1 - 1;
}

uint32_t profile_find_same_function(const struct profile *p, const struct profile *other, uint32_t function)
{
    const struct profile_function *f = &other->functions[function];
    const struct profile_module *m = &other->modules[f->module];
    return profile_find_function(p, profile_find_module(p, m->path, m->build_id, m->build_id_length), f->offset);
}

uint32_t profile_module(struct profile *p, const char *path, const uint8_t *build_id, size_t build_id_length)
{
    const uint32_t number = intern_pair(p->module_table, path, build_id, build_id_length);
    if (number < p->module_count)
        return number;
    GROW(p->modules, p->module_count, p->module_room);
    p->modules[p->module_count++] = (struct profile_module){
        .path = need_copy(path, strlen(path)),
        .build_id = (uint8_t *)need_copy((const char *)build_id, build_id_length),
        .build_id_length = build_id_length,
    };
    return number;
}

uint32_t profile_function(struct profile *p, uint32_t module, uint64_t offset)
{
    struct index_slot *slot = index_find(p->function_table, offset, module);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(p->functions, p->function_count, p->function_room);
    p->functions[p->function_count] = (struct profile_function){ module, offset };
    index_set(p->function_table, slot, offset, module, (uint32_t)p->function_count);
    return (uint32_t)p->function_count++;
}

void profile_add_alias(struct profile *p, uint32_t module, uint64_t offset, uint32_t function)
{
    struct index_slot *slot = index_find(p->function_table, offset, module);
    if (slot->value_plus_1)
        return;
    GROW(p->aliases, p->alias_count, p->alias_room);
    p->aliases[p->alias_count++] = (struct profile_alias){ module, offset, function };
    index_set(p->function_table, slot, offset, module, function);
}

/* Addresses in user space leave the highest bit free. */
uint32_t profile_site(struct profile *p, uint32_t module, uint64_t offset, bool inlined)
{
    const uint64_t key = offset ^ (uint64_t)inlined << 63;
    struct index_slot *slot = index_find(p->site_table, key, module);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(p->sites, p->site_count, p->site_room);
    p->sites[p->site_count] = (struct profile_site){ module, offset, inlined };
    index_set(p->site_table, slot, key, module, (uint32_t)p->site_count);
    return (uint32_t)p->site_count++;
}

static uint32_t profile_add_node(struct profile *p, uint32_t parent, uint32_t function, uint32_t site)
{
    GROW(p->nodes, p->node_count, p->node_room);
    p->nodes[p->node_count] = (struct profile_node){ .parent = parent, .function = function, .site = site };
    amounts_clear(&p->nodes[p->node_count]);
    return (uint32_t)p->node_count++;
}

uint32_t profile_root(struct profile *p, uint32_t process, uint32_t thread)
{
    struct index_slot *slot = index_find(p->thread_table, process, thread);
    if (slot->value_plus_1)
        return p->threads[slot->value_plus_1 - 1].root;
    GROW(p->threads, p->thread_count, p->thread_room);
    uint32_t root = profile_add_node(p, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE);
    p->threads[p->thread_count] = (struct profile_thread){ process, thread, root, 0 };
    index_set(p->thread_table, slot, process, thread, (uint32_t)p->thread_count++);
    return root;
}

uint32_t profile_find_root(const struct profile *p, uint32_t process, uint32_t thread)
{
    const struct index_slot *slot = index_find(p->thread_table, process, thread);
    return slot->value_plus_1 ? p->threads[slot->value_plus_1 - 1].root : PROFILE_NONE;
}

uint32_t profile_find_child(const struct profile *p, uint32_t parent, uint32_t function)
{
    return *node_index_find(p->node_table, p->nodes, parent, function, PROFILE_NONE) - 1;
}

uint32_t *profile_find_functions(const struct profile *p, const struct profile *other)
{
    uint32_t *functions = need_memory(other->function_count, sizeof *functions);
    for (uint32_t i = 0; i < other->function_count; i++)
        functions[i] = profile_find_same_function(p, other, i);
    return functions;
}

/* Callees come after their callers. */
uint32_t *profile_find_nodes(const struct profile *p, const struct profile *other)
{
    uint32_t *functions = profile_find_functions(p, other);
    uint32_t *nodes = need_memory(other->node_count + 1, sizeof *nodes);
    for (size_t i = 0; i < other->thread_count; i++)
        nodes[other->threads[i].root] = profile_find_root(p, other->threads[i].process, other->threads[i].thread);
    for (size_t i = 0; i < other->node_count; i++) {
        const struct profile_node *node = &other->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        const uint32_t parent = nodes[node->parent], function = functions[node->function];
        const bool lacks = parent == PROFILE_NONE || function == PROFILE_NONE;
        nodes[i] = lacks ? PROFILE_NONE : profile_find_child(p, parent, function);
    }
    free(functions);
    return nodes;
}

uint32_t profile_child(struct profile *p, uint32_t parent, uint32_t function)
{
    return profile_child_from(p, parent, function, PROFILE_NONE);
}

void profile_index_node(struct profile *p, uint32_t node)
{
    const struct profile_node *n = &p->nodes[node];
    if (n->parent != PROFILE_NONE)
        node_index_set(p->node_table, p->nodes,
                       node_index_find(p->node_table, p->nodes, n->parent, n->function, n->site), node);
}

void profile_index_threads(struct profile *p)
{
    index_free(p->thread_table);
    p->thread_table = index_new();
    for (uint32_t i = 0; i < p->thread_count; i++) {
        const struct profile_thread *t = &p->threads[i];
        index_set(p->thread_table, index_find(p->thread_table, t->process, t->thread), t->process, t->thread, i);
    }
}

uint32_t profile_child_from(struct profile *p, uint32_t parent, uint32_t function, uint32_t site)
{
    uint32_t *slot = node_index_find(p->node_table, p->nodes, parent, function, site);
    if (*slot)
        return *slot - 1;
    const uint32_t node = profile_add_node(p, parent, function, site);
    node_index_set(p->node_table, p->nodes, slot, node);
    return node;
}

void profile_copy_functions(struct profile *into, const struct profile *from)
{
    for (size_t i = 0; i < from->module_count; i++)
        profile_module(into, from->modules[i].path, from->modules[i].build_id, from->modules[i].build_id_length);
    for (size_t i = 0; i < from->function_count; i++)
        profile_function(into, from->functions[i].module, from->functions[i].offset);
    for (size_t i = 0; i < from->alias_count; i++)
        profile_add_alias(into, from->aliases[i].module, from->aliases[i].offset, from->aliases[i].function);
    for (size_t i = 0; i < from->site_count; i++)
        profile_site(into, from->sites[i].module, from->sites[i].offset, from->sites[i].inlined);
}

static void profile_add_counts(struct profile_counts *into, const struct profile_counts *from)
{
    into->enters += from->enters;
    into->exits += from->exits;
    into->unwound += from->unwound;
    into->stray_exits += from->stray_exits;
    into->switches += from->switches;
    into->intervals += from->intervals;
    into->flagged_intervals += from->flagged_intervals;
    into->os_events += from->os_events;
    into->page_faults += from->page_faults;
    into->blocked += from->blocked;
    into->preempted += from->preempted;
    into->pauses += from->pauses;
    into->paused += from->paused;
    into->outside += from->outside;
    into->chunks += from->chunks;
    into->damaged_chunks += from->damaged_chunks;
    into->samples += from->samples;
    into->samples_in_probes += from->samples_in_probes;
}

/* Adds the functions and sites of `from`. Returns their new numbers: the functions' as the result, the sites' in
 * *sites.
 */
static uint32_t *profile_map_functions(struct profile *into, const struct profile *from, uint32_t **sites)
{
    uint32_t *modules = need_memory(from->module_count, sizeof *modules);
    for (size_t i = 0; i < from->module_count; i++) {
        const struct profile_module *m = &from->modules[i];
        modules[i] = profile_module(into, m->path, m->build_id, m->build_id_length);
    }
    uint32_t *functions = need_memory(from->function_count, sizeof *functions);
    for (size_t i = 0; i < from->function_count; i++)
        functions[i] = profile_function(into, modules[from->functions[i].module], from->functions[i].offset);
    *sites = need_memory(from->site_count, sizeof **sites);
    for (size_t i = 0; i < from->site_count; i++)
        (*sites)[i] = profile_site(into, modules[from->sites[i].module], from->sites[i].offset, from->sites[i].inlined);
    free(modules);
    return functions;
}

int profile_compare_modules(const struct profile_module *a, const struct profile_module *b)
{
    const int by_path = strcmp(a->path, b->path);
    if (by_path)
        return by_path;
    if (a->build_id_length != b->build_id_length)
        return a->build_id_length < b->build_id_length ? -1 : 1;
    return a->build_id_length ? memcmp(a->build_id, b->build_id, a->build_id_length) : 0;
}

int profile_compare_marks(const void *a, const void *b)
{
    const struct profile_mark *x = a, *y = b;
    return ORDER_BY(x, y, time, thread, order);
}

/* Adds the nodes of `from` that are set in `kept`, or all if it is NULL, without their amounts. Returns their new
 * numbers. */
static uint32_t *profile_map_nodes(struct profile *into, const struct profile *from, const uint32_t *functions,
                                   const uint32_t *sites, const bool *kept)
{
    uint32_t *nodes = need_memory(from->node_count, sizeof *nodes);
    for (size_t i = 0; i < from->thread_count; i++)
        if (!kept || kept[from->threads[i].root])
            nodes[from->threads[i].root] = profile_root(into, from->threads[i].process, from->threads[i].thread);
    for (size_t i = 0; i < from->node_count; i++) {
        const struct profile_node *node = &from->nodes[i];
        if (node->parent != PROFILE_NONE && (!kept || kept[i]))
            nodes[i] = profile_child_from(into, nodes[node->parent], functions[node->function],
                                          node->site >= PROFILE_SAMPLED ? node->site : sites[node->site]);
    }
    return nodes;
}

uint32_t *profile_merge_numbered(struct profile *into, const struct profile *from)
{
    uint32_t *sites, *functions = profile_map_functions(into, from, &sites);
    uint32_t *nodes = profile_map_nodes(into, from, functions, sites, NULL);
    for (size_t i = 0; i < from->node_count; i++)
        profile_add_values(&into->nodes[nodes[i]], &from->nodes[i]);
    for (size_t i = 0; i < from->mark_count; i++) {
        GROW(into->marks, into->mark_count, into->mark_room);
        struct profile_mark *mark = &into->marks[into->mark_count++];
        *mark = from->marks[i];
        mark->text = need_copy(mark->text, strlen(mark->text));
        mark->node = nodes[mark->node];
    }
    for (size_t i = 0; i < from->reported_count; i++) {
        GROW(into->reported, into->reported_count, into->reported_room);
        struct profile_reported *reported = &into->reported[into->reported_count++];
        *reported = from->reported[i];
        if (reported->kind == DWELL_REPORTED_MODULE) {
            const struct profile_module *m = &from->modules[reported->function];
            reported->function = profile_module(into, m->path, m->build_id, m->build_id_length);
            continue;
        }
        reported->function = functions[reported->function];
        if (reported->other != PROFILE_NONE)
            reported->other = functions[reported->other];
    }
    for (size_t i = 0; i < from->counted_count; i++) {
        const struct profile_counted *c = &from->counted[i];
        const struct profile_thread *t = &from->threads[c->thread];
        counted_add(into, index_find(into->thread_table, t->process, t->thread)->value_plus_1 - 1,
                    functions[c->function], c->calls);
    }
    profile_add_counts(&into->counts, &from->counts);
    into->sampled_time += from->sampled_time;
    into->sampled_in_probes += from->sampled_in_probes;
    free(functions);
    free(sites);
    return nodes;
}

void profile_merge(struct profile *into, const struct profile *from)
{
    free(profile_merge_numbered(into, from));
}

uint32_t *profile_add_kept_nodes(struct profile *into, const struct profile *from, const bool *kept)
{
    uint32_t *sites, *functions = profile_map_functions(into, from, &sites);
    uint32_t *nodes = profile_map_nodes(into, from, functions, sites, kept);
    free(functions);
    free(sites);
    return nodes;
}

uint32_t *profile_add_nodes(struct profile *into, const struct profile *from)
{
    return profile_add_kept_nodes(into, from, NULL);
}
