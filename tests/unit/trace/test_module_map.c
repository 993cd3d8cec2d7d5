/* The index of modules finds what a look through the whole list finds, whatever the modules' addresses and times. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "trace/module_map.h"

enum { MAX_MODULES = 200, ROUNDS = 300, LOOK_UPS = 300 };

static uint64_t state = 5;

static uint64_t map_random(uint64_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
}

/* The first of the nearest modules, as docs/format.md has it. */
static const struct trace_module *map_reference(const struct trace_module *modules, size_t count, uint64_t address,
                                                uint64_t time)
{
    const struct trace_module *nearest = NULL;
    for (const struct trace_module *m = modules; m < modules + count; m++)
        if (address >= m->begin && address < m->end &&
            (!nearest || trace_module_distance(m, time) < trace_module_distance(nearest, time)))
            nearest = m;
    return nearest;
}

static int map_compare_loads(const void *a, const void *b)
{
    const struct trace_module *x = a, *y = b;
    return (x->load_time > y->load_time) - (x->load_time < y->load_time);
}

/* Few addresses and times, so that modules overlap, begin together, end before they begin, or have no addresses. */
static void map_make_modules(struct trace_module *modules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        modules[i] = (struct trace_module){
            .begin = map_random(40),
            .end = map_random(3) ? map_random(40) : UINT64_MAX,
            .load_time = map_random(60),
            .unload_time = map_random(2) ? map_random(60) : UINT64_MAX,
        };
    qsort(modules, count, sizeof *modules, map_compare_loads);
}

Test(unit_module_map, finds_what_a_look_through_all_modules_finds)
{
    struct trace_module modules[MAX_MODULES];
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = 17 + map_random(MAX_MODULES - 17);
        map_make_modules(modules, count);
        struct module_map *map = module_map_new(modules, count);
        for (int i = 0; i < LOOK_UPS; i++) {
            const uint64_t address = map_random(45), time = map_random(70);
            cr_assert(eq(ptr, (void *)module_map_find(map, address, time),
                         (void *)map_reference(modules, count, address, time)));
        }
        cr_assert(
            eq(ptr, (void *)module_map_find(map, UINT64_MAX, 1), (void *)map_reference(modules, count, UINT64_MAX, 1)));
        module_map_free(map);
    }
}

Test(unit_module_map, few_modules_need_no_map)
{
    struct trace_module modules[4] = { { .begin = 0 } };
    cr_assert(eq(ptr, module_map_new(modules, 0), NULL));
    cr_assert(eq(ptr, module_map_new(modules, 4), NULL));
    module_map_free(NULL);
}
