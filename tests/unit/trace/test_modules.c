/* Which module contained an address at a given time. Modules come and go at random, and the reference follows the
 * format's definition literally. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scenario.h"

enum { MODULES = 40, CALLS = 3000, AREA = 0x10000, PAGES = 6, OUTER = 0x900000 };

/* Times of modules are multiples of four; times of calls are one more. So two modules are never equally near. */
struct window {
    uint64_t begin, end, load, unload;
};

static uint64_t state;

static uint64_t modules_random(uint64_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
}

/* The modules are loaded one after another, each at some of the area's pages. The last one stays loaded. */
static void window_make_all(struct window *windows)
{
    uint64_t time = 4 * modules_random(50);
    for (int i = 0; i < MODULES; i++) {
        const uint64_t first = modules_random(PAGES), count = 1 + modules_random(PAGES - first);
        windows[i] = (struct window){ AREA + first * 4096, AREA + (first + count) * 4096, time, 0 };
        time += 4 + 4 * modules_random(100);
        windows[i].unload = i + 1 < MODULES ? time : UINT64_MAX;
        time += 4 * modules_random(100);
    }
}

static uint64_t window_distance(const struct window *w, uint64_t time)
{
    return time < w->load ? w->load - time : time < w->unload ? 0 : time - w->unload;
}

/* The module at that address and time, or MODULES if there never was one. */
static int window_owner(const struct window *windows, uint64_t address, uint64_t time)
{
    int nearest = MODULES;
    for (int i = 0; i < MODULES; i++)
        if (address >= windows[i].begin && address < windows[i].end &&
            (nearest == MODULES || window_distance(&windows[i], time) < window_distance(&windows[nearest], time)))
            nearest = i;
    return nearest;
}

static void window_write_all(struct writer *w, const struct window *windows)
{
    for (uint32_t i = 0; i < MODULES; i++) {
        char path[32];
        snprintf(path, sizeof path, "/%u", i);
        write_module(w, 1, i + 1, AREA, windows[i].begin, windows[i].end, windows[i].load, path);
        if (windows[i].unload != UINT64_MAX)
            write_module_unload(w, 1, i + 1, windows[i].unload);
    }
}

/* Calls within a call that began before all modules. Counts the calls of each module. Chunks also begin between enter
 * and exit. */
static void modules_write_nested_calls(struct writer *w, const struct window *windows, uint64_t pieces, uint64_t *calls)
{
    const uint64_t last = windows[MODULES - 1].load + 400;
    struct open_call open[2] = { { OUTER, 1 } };
    uint32_t sequence = 0;
    begin_events(w, 1, 1, sequence++, 0, NULL, 0);
    write_enter(w, 1, OUTER);
    for (uint64_t i = 0; i < CALLS; i++) {
        const uint64_t time = i * last / CALLS / 4 * 4 + 5;
        open[1] = (struct open_call){ AREA + modules_random(PAGES) * 4096 + 16 * modules_random(2), time };
        calls[window_owner(windows, open[1].function, time)]++;
        write_enter(w, time, open[1].function);
        if (pieces && modules_random(pieces) == 0) {
            end_events(w, true);
            begin_events(w, 1, 1, sequence++, time, open, 2);
        }
        write_exit(w, time);
    }
    end_events(w, true);
}

static void modules_check(const struct outcome *o, const uint64_t *calls)
{
    struct times *sums = rollup_groups(o->rollup, BY_MODULE);
    uint64_t found = 0;
    for (size_t i = 0; i < o->profile->module_count; i++) {
        const char *path = o->profile->modules[i].path;
        const int module = path[0] ? atoi(path + 1) : MODULES;
        cr_assert(eq(u64, sums[i].calls, calls[module] + (module == MODULES)), "module %d", module);
        found += sums[i].calls;
    }
    cr_assert(eq(u64, found, CALLS + 1));
    free(sums);
}

Test(unit_modules, the_nearest_in_time_for_any_chunks, .timeout = 300)
{
    static const uint64_t pieces[] = { 0, 200, 10, 1 };
    for (uint64_t seed = 1; seed <= 15; seed++) {
        for (int i = 0; i < 4; i++) {
            struct window windows[MODULES];
            uint64_t calls[MODULES + 1] = { 0 };
            struct writer *w = writer_new();
            state = seed;
            window_make_all(windows);
            window_write_all(w, windows);
            modules_write_nested_calls(w, windows, pieces[i], calls);
            struct outcome o = outcome_of(w, 1 + (unsigned)i);
            modules_check(&o, calls);
            outcome_drop(&o);
        }
    }
}
