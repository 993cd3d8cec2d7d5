/* Recursive calls with different sites share their callees. The same one has them, however a session was read. */
#include "profile/shared_callees.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile/overhead.h"
#include "support/scenario.h"
#include "support/site_session.h"

enum { SITE = 16, FUNCTIONS = 3, PLACES = 3, EVENTS = 20000, DEEPEST = 30, TICK = 256 };

static const uint8_t *const no_id = (const uint8_t *)"";

/* ---- one tree ---- */

/* F calls itself from `early`, then from `late`, then from both. Finds the two innermost calls, which are recursive. */
static void recurse_from_both(struct profile *p, uint32_t late, uint32_t early, uint32_t *from_late,
                              uint32_t *from_early)
{
    const uint32_t f = profile_function(p, profile_module(p, "m", no_id, 0), 0x1000);
    uint32_t node = profile_child_from(p, profile_root(p, 1, 1), f, PROFILE_NONE);
    node = profile_child_from(p, node, f, early);
    node = profile_child_from(p, node, f, late);
    *from_late = profile_child_from(p, node, f, late);
    *from_early = profile_child_from(p, node, f, early);
    p->nodes[*from_late].calls = 5;
    p->nodes[*from_early].calls = 7;
}

Test(unit_shared_callees, the_call_with_the_first_site_has_them)
{
    struct profile *p = profile_new();
    const uint32_t module = profile_module(p, "m", no_id, 0), late = profile_site(p, module, 0x1020, false),
                   early = profile_site(p, module, 0x1010, false), g = profile_function(p, module, 0x2000);
    uint32_t from_late, from_early;
    recurse_from_both(p, late, early, &from_late, &from_early);
    const uint32_t below = profile_child_from(p, from_late, g, late);
    const uint32_t sampled = profile_child_from(p, from_late, g, PROFILE_SAMPLED);
    const uint32_t deeper = profile_child_from(p, below, g, early);
    p->nodes[below].calls = 11;
    p->nodes[sampled].elapsed = 13;
    p->nodes[deeper].calls = 17;
    p->marks = calloc(1, sizeof *p->marks);
    p->mark_count = p->mark_room = 1;
    p->marks[0] = (struct profile_mark){ .node = below, .text = strdup("x") };
    shared_callees_settle(p);
    cr_assert(eq(sz, p->node_count, 9));
    const uint32_t first = 4, second = 5; /* in the order of their sites */
    cr_assert(eq(u64, p->nodes[first].calls, 7));
    cr_assert(eq(u64, p->nodes[second].calls, 5));
    const uint32_t moved = p->marks[0].node;
    cr_assert(eq(u64, p->nodes[moved].calls, 11));
    cr_assert(eq(u32, p->nodes[moved].parent, first));
    cr_assert(eq(u32, profile_child_from(p, first, p->nodes[moved].function, late), moved));
    cr_assert(eq(u64, p->nodes[profile_child_from(p, moved, p->nodes[moved].function, early)].calls, 17));
    cr_assert(eq(u64, p->nodes[profile_child_from(p, second, p->nodes[moved].function, PROFILE_SAMPLED)].elapsed, 13));
    cr_assert(eq(sz, p->node_count, 9)); /* so all of these were there */
    cr_assert(eq(u32, p->nodes[profile_find_root(p, 1, 1)].parent, PROFILE_NONE));
    profile_free(p);
}

/* Modules are in the order of build-ids and paths, their sites in that of addresses, those not inlined first. Here the
 * last one comes first. */
Test(unit_shared_callees, the_order_of_sites)
{
    struct profile *p = profile_new();
    const uint32_t b = profile_module(p, "b", no_id, 0), a = profile_module(p, "a", no_id, 0),
                   id = profile_module(p, "a", (const uint8_t *)"\1", 1),
                   other = profile_module(p, "a", (const uint8_t *)"\2", 1);
    const uint32_t sites[] = {
        profile_site(p, other, 1, false), profile_site(p, id, 1, false), profile_site(p, b, 2, false),
        profile_site(p, b, 1, true),      profile_site(p, b, 1, false),  profile_site(p, a, 9, false),
    };
    enum { COUNT = sizeof sites / sizeof *sites };
    const uint32_t f = profile_function(p, a, 0x1000);
    uint32_t node = profile_root(p, 1, 1);
    for (int i = 0; i < COUNT; i++)
        node = profile_child_from(p, node, f, sites[i]);
    for (int i = 0; i < COUNT; i++)
        p->nodes[profile_child_from(p, node, f, sites[i])].calls = 100 + (uint64_t)i;
    shared_callees_settle(p);
    cr_assert(eq(sz, p->node_count, 1 + 2 * COUNT));
    for (size_t i = 0; i < COUNT; i++)
        cr_assert(eq(u64, p->nodes[1 + COUNT + i].calls, 100 + COUNT - 1 - i));
    profile_free(p);
}

/* ---- parts of a session ---- */

/* Calls of a few functions from a few places each, which recur in many ways. Returns the time of their end. */
static uint64_t write_random_calls(struct writer *w, unsigned seed)
{
    unsigned depth = 0;
    uint64_t now = 0;
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    srand(seed);
    for (int i = 0; i < EVENTS || depth; i++) {
        now += 20 + (uint64_t)(rand() % 50);
        if (i < EVENTS && depth < DEEPEST && (depth == 0 || rand() % 2)) {
            if (depth++)
                write_site(w, SITE, 0x10 + 0x10 * (unsigned)(rand() % PLACES), 1);
            write_enter(w, now, 0x10000 + 0x1000ull * (unsigned)(rand() % FUNCTIONS));
        } else {
            depth--;
            write_exit(w, now);
        }
    }
    end_events(w, true);
    return now;
}

static uint32_t same_site(struct profile *in, const struct profile *of, uint32_t site)
{
    if (site >= PROFILE_SAMPLED)
        return site;
    const struct profile_site *s = &of->sites[site];
    return profile_site(in, profile_find_module(in, of->modules[s->module].path, no_id, 0), s->offset, s->inlined);
}

/* Both have the same nodes with the same values. */
static void check_same_trees(struct profile *x, const struct profile *y)
{
    const size_t count = x->node_count;
    uint32_t *places = calloc(y->node_count, sizeof *places);
    cr_assert(eq(sz, count, y->node_count));
    for (size_t i = 0; i < y->node_count; i++) {
        const struct profile_node *n = &y->nodes[i];
        places[i] = n->parent == PROFILE_NONE
                        ? profile_root(x, 1, 1)
                        : profile_child_from(x, places[n->parent], profile_find_same_function(x, y, n->function),
                                             same_site(x, y, n->site));
        cr_assert(lt(sz, places[i], count));
        const struct profile_node *m = &x->nodes[places[i]];
        cr_assert(eq(u64, m->calls, n->calls));
        cr_assert(eq(u64, m->elapsed, n->elapsed));
        cr_assert(eq(u64, m->overhead, n->overhead));
        cr_assert(eq(u64, m->shortest, n->shortest));
        cr_assert(eq(u64, m->longest, n->longest));
    }
    free(places);
}

static struct profile *join_parts(const struct session_file *file, uint64_t border, bool later_first)
{
    struct profile *all = profile_new();
    for (int i = 0; i < 2; i++) {
        const bool later = i != later_first;
        struct profile *part = collect_sites(
            file, NULL, 1,
            &(struct selection){ .cut = true, .from = later ? border : 0, .to = later ? UINT64_MAX : border });
        profile_merge(all, part);
        profile_free(part);
    }
    shared_callees_settle(all);
    return all;
}

/* Workers make profiles of parts in the same way. The probes are subtracted path by path, so the paths must be the same
 * ones. */
Test(unit_shared_callees, parts_add_up_to_the_whole)
{
    static const struct probe_cost cost = { 1, 9 * TICK + 77, 8 * TICK + 33, 7 * TICK + 11 };
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct writer *w = writer_new();
        write_header(w, 176, 1, 4);
        const uint64_t border = write_random_calls(w, seed) * seed / 5;
        const char *path = test_path("parts.dwell"), *error;
        writer_save(w, path);
        writer_free(w);
        struct session_file *file = session_file_open(path, &error);
        struct profile *whole = collect_sites(file, NULL, 1, NULL);
        overhead_subtract(whole, &cost, 1, true);
        for (int later_first = 0; later_first < 2; later_first++) {
            struct profile *joined = join_parts(file, border, later_first);
            const struct overhead o = overhead_subtract(joined, &cost, 1, true);
            cr_assert(gt(sz, o.held, 0)); /* some paths have less time than their probes */
            check_same_trees(joined, whole);
            profile_free(joined);
        }
        profile_free(whole);
        session_file_close(file);
    }
}
