/* The generations of a module map: the times at which an address can begin to mean another function. */
#include "profile/generations.h"

#include <stdlib.h>

#include "base/memory.h"

enum { MAX_SUCCESSORS = 64 }; /* modules that each take a part of the addresses of an unloaded one */

static void generations_add_change(struct generations *g, uint64_t time)
{
    GROW(g->changes, g->count, g->room);
    g->changes[g->count++] = time;
}

static int generations_compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Adds the load times of the modules that follow at the addresses of `gone`, and the times half-way between: until then
 * `gone` is the nearest module in time. A module that covers all of these addresses ends the search. */
static void generations_add_successors(struct generations *g, const struct trace_module *gone,
                                       const struct trace_module *end)
{
    int found = 0;
    for (const struct trace_module *m = gone + 1; m < end && found < MAX_SUCCESSORS; m++) {
        if (m->load_time < gone->unload_time || m->end <= gone->begin || gone->end <= m->begin)
            continue;
        generations_add_change(g, m->load_time);
        generations_add_change(g, gone->unload_time + (m->load_time - gone->unload_time + 1) / 2);
        found++;
        if (m->begin <= gone->begin && m->end >= gone->end)
            return;
    }
}

/* Finds the times at which trace_module_at can begin to give another result. Loading a library at fresh addresses
 * changes nothing. */
static void generations_find_changes(struct generations *g)
{
    const struct trace_process *p = g->process;
    g->count = 0;
    for (size_t i = 0; p && i < p->module_count; i++) {
        const struct trace_module *gone = &p->modules[i];
        if (gone->unload_time == UINT64_MAX)
            continue;
        generations_add_change(g, gone->unload_time);
        generations_add_successors(g, gone, p->modules + p->module_count);
    }
    if (g->count)
        qsort(g->changes, g->count, sizeof *g->changes, generations_compare_times);
}

void generations_begin(struct generations *g, const struct trace_process *process)
{
    if (g->process == process && process)
        return;
    g->process = process;
    generations_find_changes(g);
    g->begin_at = UINT64_MAX; /* none is current */
    g->next_at = 0;
}

void generations_find(struct generations *g, uint64_t time)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->changes[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    g->current = (uint32_t)low;
    g->begin_at = low > 0 ? g->changes[low - 1] : 0;
    g->next_at = low < g->count ? g->changes[low] : UINT64_MAX;
}

void generations_end(struct generations *g)
{
    free(g->changes);
}
