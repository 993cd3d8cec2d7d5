/* Finds the times at which trace_module_at can begin to give another result for an address. */
#include "trace/module_changes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

enum {
    MAX_SUCCESSORS = 64, /* modules that each take a part of the addresses of an unloaded one */
    MAX_STEPS = 1 << 24, /* modules looked at for all successors of a process, before the search becomes shorter */
};

struct change_list {
    uint64_t *times;
    size_t count, room;
    size_t steps;
};

static void module_changes_add(struct change_list *c, uint64_t time)
{
    GROW(c->times, c->count, c->room);
    c->times[c->count++] = time;
}

/* The first module after `gone` that is loaded when `gone` is unloaded, or later. */
static const struct trace_module *module_changes_next(const struct trace_module *gone, const struct trace_module *end)
{
    const struct trace_module *later = gone + 1;
    return later + LOWER_BOUND(module, later, (size_t)(end - later), module->load_time < gone->unload_time);
}

/* Adds the load times of the modules that follow at the addresses of `gone`, and the times half-way between: until then
 * `gone` is the nearest module in time. A module that covers all of these addresses ends the search. */
static void module_changes_add_successors(struct change_list *c, const struct trace_module *gone,
                                          const struct trace_module *end)
{
    int found = 0;
    const struct trace_module *m = module_changes_next(gone, end);
    if (c->steps >= MAX_STEPS && end - m > MAX_SUCCESSORS)
        end = m + MAX_SUCCESSORS;
    for (; m < end && found < MAX_SUCCESSORS; m++) {
        c->steps++;
        if (m->end <= gone->begin || gone->end <= m->begin)
            continue;
        module_changes_add(c, m->load_time);
        module_changes_add(c, gone->unload_time + (m->load_time - gone->unload_time + 1) / 2);
        found++;
        if (m->begin <= gone->begin && m->end >= gone->end)
            return;
    }
}

/* Loading a library at fresh addresses changes nothing. */
uint64_t *module_changes(const struct trace_module *modules, size_t count, size_t *change_count)
{
    struct change_list c = { NULL, 0, 0, 0 };
    for (const struct trace_module *gone = modules; gone < modules + count; gone++) {
        if (gone->unload_time == UINT64_MAX)
            continue;
        module_changes_add(&c, gone->unload_time);
        module_changes_add_successors(&c, gone, modules + count);
    }
    if (c.count)
        qsort(c.times, c.count, sizeof *c.times, compare_numbers);
    *change_count = c.count;
    return c.times;
}
