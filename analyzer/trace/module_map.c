/*
 * Finds the module at an address and a time in logarithmic steps. The addresses are cut into parts where modules begin
 * and end. A binary tree over the parts holds each module in the fewest nodes that cover it. So the modules at an
 * address are in the nodes from its part up to the root.
 */
#include "trace/module_map.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

enum { FEW_MODULES = 16 };

struct module_map {
    const struct trace_module *modules;
    uint64_t *bounds; /* ascending: part i begins at bounds[i] and ends at the next one */
    size_t bound_count;
    size_t leaves; /* the node of part i is `leaves` + i, and node n is below node n / 2 */
    size_t *first; /* by node: its first entry; one more at the end */
    /* Entries of one node after the other, each node's in the order of the modules. */
    uint32_t *entries;
    uint64_t *latest; /* the latest unload time up to this entry of the node */
};

uint64_t trace_module_distance(const struct trace_module *m, uint64_t time)
{
    if (time < m->load_time)
        return m->load_time - time;
    return time < m->unload_time ? 0 : time - m->unload_time + 1;
}

/* ---- making it ---- */

static void module_map_find_bounds(struct module_map *map, size_t count)
{
    map->bounds = need_memory(2 * count, sizeof *map->bounds);
    for (size_t i = 0; i < count; i++) {
        map->bounds[2 * i] = map->modules[i].begin;
        map->bounds[2 * i + 1] = map->modules[i].end;
    }
    qsort(map->bounds, 2 * count, sizeof *map->bounds, compare_numbers);
    for (size_t i = 0; i < 2 * count; i++)
        if (i == 0 || map->bounds[i] != map->bounds[i - 1])
            map->bounds[map->bound_count++] = map->bounds[i];
    map->leaves = 1;
    while (map->leaves < map->bound_count)
        map->leaves *= 2;
}

/* The number of bounds that are not above the address. */
static size_t module_map_bounds_to(const struct module_map *map, uint64_t address)
{
    return LOWER_BOUND(bound, map->bounds, map->bound_count, *bound <= address);
}

static void module_map_add_entry(struct module_map *map, size_t node, size_t module)
{
    const size_t at = map->first[node]++;
    const uint64_t unloaded = map->modules[module].unload_time;
    map->entries[at] = (uint32_t)module;
    map->latest[at] = unloaded;
}

/* Visits the nodes that cover the module: counts their entries, or adds them. */
static void module_map_cover(struct module_map *map, size_t module, bool add)
{
    const struct trace_module *m = &map->modules[module];
    if (m->begin >= m->end)
        return;
    size_t low = module_map_bounds_to(map, m->begin) - 1 + map->leaves;
    size_t high = module_map_bounds_to(map, m->end) - 1 + map->leaves;
    for (; low < high; low /= 2, high /= 2) {
        const size_t nodes[] = { low % 2 ? low++ : 0, high % 2 ? --high : 0 };
        for (int i = 0; i < 2; i++) {
            if (nodes[i] && add)
                module_map_add_entry(map, nodes[i], module);
            else if (nodes[i])
                map->first[nodes[i] + 1]++;
        }
    }
}

/* Afterwards first[n] is where the entries of node n end, which is where those of the next one begin. */
static void module_map_fill(struct module_map *map, size_t count)
{
    const size_t nodes = 2 * map->leaves;
    map->first = need_memory(nodes + 1, sizeof *map->first);
    for (size_t i = 0; i < count; i++)
        module_map_cover(map, i, false);
    for (size_t i = 1; i <= nodes; i++)
        map->first[i] += map->first[i - 1];
    map->entries = need_memory(map->first[nodes], sizeof *map->entries);
    map->latest = need_memory(map->first[nodes], sizeof *map->latest);
    for (size_t i = 0; i < count; i++)
        module_map_cover(map, i, true);
    for (size_t i = nodes; i > 0; i--)
        map->first[i] = map->first[i - 1];
    map->first[0] = 0;
    for (size_t node = 0; node < nodes; node++)
        for (size_t i = map->first[node] + 1; i < map->first[node + 1]; i++)
            if (map->latest[i] < map->latest[i - 1])
                map->latest[i] = map->latest[i - 1];
}

struct module_map *module_map_new(const struct trace_module *modules, size_t count)
{
    if (count <= FEW_MODULES)
        return NULL;
    struct module_map *map = need_memory(1, sizeof *map);
    map->modules = modules;
    module_map_find_bounds(map, count);
    module_map_fill(map, count);
    return map;
}

void module_map_free(struct module_map *map)
{
    if (!map)
        return;
    free(map->bounds);
    free(map->first);
    free(map->entries);
    free(map->latest);
    free(map);
}

/* ---- looking up ---- */

static const struct trace_module *module_map_nearer(const struct trace_module *a, const struct trace_module *b,
                                                    uint64_t time)
{
    if (!a)
        return b;
    const uint64_t of_a = trace_module_distance(a, time), of_b = trace_module_distance(b, time);
    return of_b < of_a || (of_b == of_a && b < a) ? b : a;
}

/* The nearest module of the node: the first that is loaded later, or the one that is unloaded last of those before. */
static const struct trace_module *module_map_nearest(const struct module_map *map, size_t node, uint64_t time,
                                                     const struct trace_module *nearest)
{
    const size_t first = map->first[node], count = map->first[node + 1] - first;
    const uint32_t *entries = map->entries + first;
    const uint64_t *latest = map->latest + first;
    const size_t loaded = LOWER_BOUND(entry, entries, count, map->modules[*entry].load_time <= time);
    if (loaded < count)
        nearest = module_map_nearer(nearest, &map->modules[entries[loaded]], time);
    if (loaded == 0)
        return nearest;
    const uint64_t last = latest[loaded - 1], wanted = last > time ? time + 1 : last;
    const size_t unloaded = LOWER_BOUND(end, latest, loaded - 1, *end < wanted);
    return module_map_nearer(nearest, &map->modules[entries[unloaded]], time);
}

const struct trace_module *module_map_find(const struct module_map *map, uint64_t address, uint64_t time)
{
    const struct trace_module *nearest = NULL;
    const size_t bounds = module_map_bounds_to(map, address);
    if (bounds == 0 || bounds == map->bound_count)
        return NULL;
    for (size_t node = bounds - 1 + map->leaves; node; node /= 2)
        nearest = module_map_nearest(map, node, time, nearest);
    return nearest;
}
