/* Callers and callees with all their values, by exact ticks, in a session with indirect recursion and probe overhead.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "dwell/format.h"
#include "profile/edges.h"
#include "profile/overhead.h"
#include "support/scenario.h"

TestSuite(unit_edges);

enum { F = 0x1000, G = 0x2000, TICK = DWELL_PROBE_FRACTION };

/* F from 0 to 1000 calls G from 100 to 400. G calls F from 200 to 300, with two page faults. A call costs its function
 * 2 ticks and its caller 5. A call that makes calls itself costs 3 more. */
static struct outcome edges_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    write_enter(w, 100, G);
    write_enter(w, 200, F);
    write_faults(w, 2);
    write_exit(w, 300);
    write_exit(w, 400);
    write_exit(w, 1000);
    struct outcome o = outcome_of(w, 1);
    overhead_subtract(o.profile, &(struct probe_cost){ 1, 2 * TICK, 5 * TICK, 3 * TICK }, 1, false);
    rollup_free(o.rollup);
    o.rollup = rollup_new(o.profile);
    return o;
}

static uint32_t edges_function(const struct outcome *o, uint64_t address)
{
    for (uint32_t i = 0; i < o->profile->function_count; i++)
        if (o->profile->functions[i].offset == address)
            return i;
    return PROFILE_NONE;
}

static const struct edge *edges_find(const struct edges *e, uint32_t caller, uint32_t callee)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->list[i].caller == caller && e->list[i].callee == callee)
            return &e->list[i];
    cr_fatal("no such edge");
}

/* Each of these values is {inclusive, exclusive}. */
struct edges_expected {
    uint64_t elapsed[2], overhead[2], page_faults[2], calls, every_elapsed;
};

static void edges_expect(const char *what, const struct call_sums *c, const struct edges_expected *wanted)
{
    for (int form = 0; form < VALUE_FORMS; form++) {
        cr_assert(eq(u64, times_value(&c->times, VALUE_ELAPSED, form), wanted->elapsed[form]), "%s", what);
        cr_assert(eq(u64, times_value(&c->times, VALUE_OVERHEAD, form), wanted->overhead[form]), "%s", what);
        cr_assert(eq(u64, times_value(&c->times, VALUE_PAGE_FAULTS, form), wanted->page_faults[form]), "%s", what);
    }
    cr_assert(eq(u64, c->times.calls, wanted->calls), "%s", what);
    cr_assert(eq(u64, c->every_elapsed, wanted->every_elapsed), "%s", what);
}

/* The inclusive values of the inner F are in those of the outer F. They count only where the outer F does not. */
Test(unit_edges, have_all_values)
{
    struct outcome o = edges_session();
    struct edges e = edges_of_process(o.rollup, 1);
    const uint32_t f = edges_function(&o, F), g = edges_function(&o, G);
    const struct edge *start = edges_find(&e, PROFILE_NONE, f), *down = edges_find(&e, f, g);
    const struct edge *back = edges_find(&e, g, f);
    cr_assert(eq(sz, e.count, 3));
    edges_expect("F", &e.functions[f], &(struct edges_expected){ { 978, 788 }, { 22, 12 }, { 2, 2 }, 2, 978 + 98 });
    edges_expect("G", &e.functions[g], &(struct edges_expected){ { 288, 190 }, { 12, 10 }, { 2, 0 }, 1, 288 });
    edges_expect("F, first on its stack", &start->of_callee,
                 &(struct edges_expected){ { 978, 690 }, { 22, 10 }, { 2, 0 }, 1, 978 });
    edges_expect("G as called by F", &down->of_callee,
                 &(struct edges_expected){ { 288, 190 }, { 12, 10 }, { 2, 0 }, 1, 288 });
    edges_expect("callee G of F", &down->of_edge,
                 &(struct edges_expected){ { 288, 190 }, { 12, 10 }, { 2, 0 }, 1, 288 });
    edges_expect("F as called by G", &back->of_callee,
                 &(struct edges_expected){ { 0, 98 }, { 0, 2 }, { 0, 2 }, 1, 98 });
    edges_expect("callee F of G", &back->of_edge, &(struct edges_expected){ { 98, 98 }, { 2, 2 }, { 2, 2 }, 1, 98 });
    edges_free(&e);
    outcome_drop(&o);
}

Test(unit_edges, counted_calls_are_those_of_the_process)
{
    static const uint64_t first[][2] = { { G, 70 } }, second[][2] = { { G, 30 } };
    struct writer *w = writer_new();
    for (uint32_t serial = 1; serial <= 2; serial++) {
        write_process(w, serial, 100 + serial, "/bin/prog");
        write_thread(w, serial, serial, 100 + serial, SOURCE_PERF, "main");
        begin_events(w, serial, serial, 0, 0, NULL, 0);
        write_enter(w, 0, F);
        write_exit(w, 10);
        end_events(w, true);
        write_counts(w, serial, serial, 5, serial == 1 ? first : second, 1);
    }
    struct outcome o = outcome_of(w, 1);
    const uint32_t f = edges_function(&o, F), g = edges_function(&o, G);
    for (uint32_t serial = 1; serial <= 2; serial++) {
        struct edges e = edges_of_process(o.rollup, serial);
        cr_assert(eq(u64, e.functions[f].times.calls, 1));
        cr_assert(eq(u64, e.functions[g].times.calls, serial == 1 ? 70 : 30));
        edges_free(&e);
    }
    outcome_drop(&o);
}
