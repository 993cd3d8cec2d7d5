/* Which functions an overhead budget leaves timed: exact decisions on given numbers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "profile/budget_levels.h"

TestSuite(unit_budget_levels, .timeout = 300);

/* A call's probes take 10 ticks, and the budget is a tenth. */
static const struct budget_look usual = { .cpu = 1000000, .probes = 10 * 256, .permille = 100 };

enum { SETTLED = 4 /* looks after a change */, QUIET = 20 };

static size_t budget_quiet_looks(struct budget_function *f, size_t looks)
{
    size_t changes = 0;
    uint32_t changed[1];
    for (size_t i = 0; i < looks; i++)
        changes += budget_decide(f, 1, &usual, changed);
    return changes;
}

Test(unit_budget_levels, within_the_budget_nothing_changes)
{
    struct budget_function f[] = { { .calls = 5000, .inclusive = 100000 }, { .calls = 1000, .inclusive = 900000 } };
    uint32_t changed[2];
    /* 60,000 of 940,000 own ticks */
    cr_assert(eq(sz, budget_decide(f, 2, &usual, changed), 0));
    cr_assert(not(f[0].is_counted));
    cr_assert(not(f[1].is_counted));
}

/* 27,000 calls cost 270,000 of 730,000 own ticks; 73,000 are allowed. The shortest calls go first, until a quarter less
 * than that remains. */
Test(unit_budget_levels, the_shortest_calls_are_counted_first)
{
    struct budget_function f[] = {
        { .calls = 1000, .inclusive = 400000 },  /* 400 ticks a call */
        { .calls = 10000, .inclusive = 150000 }, /* 15 */
        { .calls = 1000, .inclusive = 50000 },   /* 50 */
        { .calls = 15000, .inclusive = 180000 }, /* 12 */
    };
    uint32_t changed[4];
    cr_assert(eq(sz, budget_decide(f, 4, &usual, changed), 2));
    cr_assert(eq(u32, changed[0], 3));
    cr_assert(eq(u32, changed[1], 1));
    cr_assert(f[3].is_counted && f[1].is_counted && !f[2].is_counted && !f[0].is_counted);
    cr_assert(eq(u32, f[3].lowered, 1));
}

Test(unit_budget_levels, few_calls_and_fixed_functions_stay_timed)
{
    /* In a look of 20,000 ticks, 32 calls cost 320 ticks; a budget of 1,000 is exceeded. */
    const struct budget_look look = { .cpu = 20000, .probes = 10 * 256, .permille = 100 };
    struct budget_function f[] = { { .calls = 1000, .inclusive = 10000, .is_fixed = true },
                                   { .calls = 31, .inclusive = 31 },
                                   { .calls = 32, .inclusive = 64 } };
    uint32_t changed[3];
    cr_assert(eq(sz, budget_decide(f, 3, &look, changed), 1));
    cr_assert(eq(u32, changed[0], 2));
}

/* The second function costs 1,000 of some 37,000 ticks that are to remain. What is above the budget is not its doing.
 */
Test(unit_budget_levels, a_rare_function_stays_timed_beside_one_that_cannot_be_changed)
{
    struct budget_function f[] = { { .calls = 50000, .inclusive = 500000, .is_fixed = true },
                                   { .calls = 50, .inclusive = 50 } };
    uint32_t changed[2];
    cr_assert(eq(sz, budget_decide(f, 2, &usual, changed), 0));
    f[1].calls = 100;
    cr_assert(eq(sz, budget_decide(f, 2, &usual, changed), 1));
    cr_assert(f[1].is_counted);
}

/* Each of 40 functions is rare: 500 of 37,000 ticks. Together they are more than a quarter of it. */
Test(unit_budget_levels, many_rare_functions_are_counted)
{
    enum { ALL = 41 };
    struct budget_function f[ALL] = { { .calls = 50000, .inclusive = 500000, .is_fixed = true } };
    uint32_t changed[ALL];
    for (int i = 1; i < ALL; i++)
        f[i] = (struct budget_function){ .calls = 50, .inclusive = 50 };
    cr_assert(eq(sz, budget_decide(f, ALL, &usual, changed), ALL - 1));
    f[1] = (struct budget_function){ .calls = 50, .inclusive = 50 };
    cr_assert(eq(sz, budget_decide(f, ALL, &usual, changed), 0), "one of them alone is not");
}

/* Two functions fit into the budget without the third one, which is counted. Processes may need some looks to change
 * it; until then, its calls are no reason to count the others. */
Test(unit_budget_levels, a_change_that_is_on_its_way_counts_no_others)
{
    struct budget_function f[] = { { .calls = 20000, .inclusive = 240000 },
                                   { .calls = 1000, .inclusive = 50000 },
                                   { .calls = 1000, .inclusive = 400000 } };
    struct budget_look brief = usual;
    uint32_t changed[3];
    brief.brief = true;
    cr_assert(eq(sz, budget_decide(f, 3, &usual, changed), 1));
    cr_assert(f[0].is_counted);
    cr_assert(eq(sz, budget_decide(f, 3, &brief, changed), 0));
    cr_assert(eq(sz, budget_decide(f, 3, &usual, changed), 0));
    f[1].calls = 6000; /* that is too much */
    cr_assert(eq(sz, budget_decide(f, 3, &usual, changed), 1));
    cr_assert(f[1].is_counted && !f[2].is_counted);
}

/* Calls that were made before the change do not count against the function that was changed. */
Test(unit_budget_levels, a_change_takes_some_looks)
{
    struct budget_function f = { .calls = 50000, .inclusive = 500000 };
    uint32_t changed[1];
    cr_assert(eq(sz, budget_decide(&f, 1, &usual, changed), 1));
    for (int i = 0; i < 21; i++) {
        f.calls = i == 11 ? 0 : 50000; /* then its calls are counted at last */
        f.counted = i == 11;
        cr_assert(eq(sz, budget_decide(&f, 1, &usual, changed), 0));
        cr_assert(f.is_counted && !f.is_fixed && f.lowered == 1, "%d", i);
    }
    cr_assert(eq(sz, budget_decide(&f, 1, &usual, changed), 0), "it was timed ten times, so it cannot be changed");
    cr_assert(not(f.is_counted));
    cr_assert(f.is_fixed);
    cr_assert(eq(sz, budget_decide(&f, 1, &usual, changed), 0), "and is not tried again");
}

/* A rare function is timed again after 20 looks, then after 40. */
Test(unit_budget_levels, rare_functions_are_timed_again)
{
    struct budget_function f = { .calls = 50000, .inclusive = 500000 };
    for (uint32_t times = 1; times <= 2; times++) {
        f.calls = 50000;
        f.counted = 0;
        cr_assert(eq(sz, budget_quiet_looks(&f, 1), 1));
        cr_assert(eq(u32, f.lowered, times));
        f.calls = 0;
        f.counted = 10; /* they would cost 100 of 100,000 ticks that are allowed */
        cr_assert(eq(sz, budget_quiet_looks(&f, 1 + QUIET * times), 0));
        cr_assert(f.is_counted);
        cr_assert(eq(sz, budget_quiet_looks(&f, 1), 1));
        cr_assert(not(f.is_counted));
        f.counted = 0;
        cr_assert(eq(sz, budget_quiet_looks(&f, SETTLED), 0));
    }
}

Test(unit_budget_levels, a_function_that_is_called_often_stays_counted)
{
    struct budget_function f = { .calls = 50000, .inclusive = 500000 };
    cr_assert(eq(sz, budget_quiet_looks(&f, 1), 1));
    f.calls = 0;
    for (int i = 0; i < 100; i++) {
        f.counted = i % 15 == 14 ? 1000 : 0; /* 10,000 ticks: not rare */
        cr_assert(eq(sz, budget_quiet_looks(&f, 1), 0));
    }
    cr_assert(f.is_counted);
}

/* Counted calls cost, too. */
Test(unit_budget_levels, counted_calls_are_part_of_the_overhead)
{
    struct budget_function f[] = { { .counted = 140000, .is_counted = true, .lowered = 1 },
                                   { .calls = 1000, .inclusive = 20000 } };
    uint32_t changed[2];
    /* 100,000 for the counted ones and 10,000 for the timed ones; 89,000 are allowed */
    cr_assert(eq(sz, budget_decide(f, 2, &usual, changed), 1));
    cr_assert(eq(u32, changed[0], 1));
}

/* A rare function is timed after 20 looks, as if the budget had counted it. The first two looks are too early. */
Test(unit_budget_levels, functions_that_begin_counted)
{
    struct budget_function f = { .counted = 30 };
    budget_begin_counted(&f);
    cr_assert(f.is_counted);
    cr_assert(eq(sz, budget_quiet_looks(&f, QUIET + 1), 0));
    cr_assert(eq(sz, budget_quiet_looks(&f, 1), 1));
    cr_assert(not(f.is_counted));
    struct budget_function busy = { .counted = 50000 };
    budget_begin_counted(&busy);
    cr_assert(eq(sz, budget_quiet_looks(&busy, 100), 0));
    cr_assert(busy.is_counted);
}

/* Looks in which the program did not run neither count nor end the row. */
Test(unit_budget_levels, looks_at_a_program_that_waits)
{
    const struct budget_look idle = { .cpu = 0, .probes = usual.probes, .permille = usual.permille };
    struct budget_function f = { 0 };
    uint32_t changed[1];
    budget_begin_counted(&f);
    cr_assert(eq(sz, budget_quiet_looks(&f, QUIET + 1), 0));
    for (int i = 0; i < 2 * QUIET; i++)
        cr_assert(eq(sz, budget_decide(&f, 1, &idle, changed), 0));
    cr_assert(eq(sz, budget_quiet_looks(&f, 1), 1));
    cr_assert(not(f.is_counted));
}

/* Each of 100 functions costs 1.5 percent of the budget in every tenth look, and nothing in the others. In looks
 * without calls of any, all seem to cost nothing together. */
Test(unit_budget_levels, functions_that_take_turns_come_back_in_part)
{
    enum { FUNCTIONS = 100 };
    struct budget_function f[FUNCTIONS] = { 0 };
    uint32_t changed[FUNCTIONS];
    size_t changes = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        budget_begin_counted(&f[i]);
    for (int look = 0; look < 400; look++) {
        for (int i = 0; i < FUNCTIONS; i++) {
            const uint64_t calls = look % 10 == 9 ? 150 : 0;
            f[i].calls = f[i].is_counted ? 0 : calls;
            f[i].inclusive = 20 * f[i].calls;
            f[i].counted = f[i].is_counted ? calls : 0;
        }
        changes += budget_decide(f, FUNCTIONS, &usual, changed);
    }
    size_t timed = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        cr_assert(eq(u32, f[i].lowered, 1), "function %d was counted again", i);
        timed += !f[i].is_counted;
    }
    cr_assert(eq(sz, changes, timed));
    cr_assert(gt(sz, timed, 20));
    cr_assert(lt(sz, timed, 40));
}

/* Most of the budget is in use in one of the 20 looks: no function comes back then. */
Test(unit_budget_levels, nothing_comes_back_beside_a_busy_function)
{
    struct budget_function f[] = { { 0 }, { 0 } };
    uint32_t changed[2];
    budget_begin_counted(&f[0]);
    for (int look = 0; look < 200; look++) {
        f[1].calls = look % 10 == 9 ? 6000 : 0; /* 60,000 of 94,000 ticks that are allowed */
        f[1].inclusive = 100 * f[1].calls;
        f[0].counted = 40;
        cr_assert(eq(sz, budget_decide(f, 2, &usual, changed), 0));
    }
    f[1].calls = 0;
    size_t changes = 0;
    for (int look = 0; look < 41; look++)
        changes += budget_decide(f, 2, &usual, changed);
    cr_assert(eq(sz, changes, 1));
    cr_assert(not(f[0].is_counted));
}

/* A look above the budget begins the row again. */
Test(unit_budget_levels, nothing_comes_back_right_after_a_hot_look)
{
    struct budget_function f[] = { { 0 }, { 0 } };
    uint32_t changed[2];
    budget_begin_counted(&f[0]);
    cr_assert(eq(sz, budget_quiet_looks(f, 2 + 19), 0));
    f[1] = (struct budget_function){ .calls = 50000, .inclusive = 5000000 };
    cr_assert(eq(sz, budget_decide(f, 2, &usual, changed), 1));
    cr_assert(f[1].is_counted && f[0].is_counted);
    f[1].calls = 0;
    f[1].counted = 50000;
    size_t looks = 0;
    while (f[0].is_counted && looks < 100) {
        budget_decide(f, 2, &usual, changed);
        looks++;
    }
    cr_assert(eq(sz, looks, 20));
}

/* Functions whose probes take more of their duration than the budget allows: the first time that it is exceeded, they
 * are counted together, whether they are called now or not. */
Test(unit_budget_levels, short_functions_are_counted_together)
{
    struct budget_look look = usual;
    struct budget_function f[] = {
        { .calls = 12000, .inclusive = 240000 },                          /* 20 ticks a call */
        { .all = { .timed = 32, .inclusive = 32 * 20 } },                 /* the same, but not now */
        { .all = { .timed = 31, .inclusive = 31 * 20 } },                 /* called too rarely */
        { .all = { .timed = 32, .inclusive = 32 * 110 } },                /* the probes take a tenth of the rest */
        { .all = { .timed = 32, .inclusive = 32 * 109 } },                /* a little more */
        { .is_short = true },                                             /* never called */
        { .is_short = true, .is_fixed = true },                           /* it cannot be changed */
        { .all = { .timed = 32, .inclusive = 32 * 20 }, .lowered = 1 },   /* timed again as it is rare */
        { .calls = 100, .inclusive = 100 * 2000, .all = { .timed = 9 } }, /* long enough */
        { .is_short = true, .all = { .counted = 1 } },                    /* counted by hand */
    };
    uint32_t changed[10];
    cr_assert(eq(sz, budget_decide(f, 10, &look, changed), 1), "alone without `together`");
    cr_assert(eq(u32, changed[0], 0));
    f[0] = (struct budget_function){ .calls = 12000, .inclusive = 240000 };
    look.together = true;
    cr_assert(eq(sz, budget_decide(f, 10, &look, changed), 4));
    const uint32_t together[] = { 0, 1, 4, 5 };
    for (int i = 0; i < 4; i++) {
        cr_assert(eq(u32, changed[i], together[i]));
        cr_assert(f[together[i]].is_counted);
    }
}

/* Within the budget they stay. */
Test(unit_budget_levels, short_functions_stay_within_the_budget)
{
    struct budget_look look = usual;
    look.together = true;
    struct budget_function f[] = { { .calls = 5000, .inclusive = 100000 }, { .is_short = true } };
    uint32_t changed[2];
    cr_assert(eq(sz, budget_decide(f, 2, &look, changed), 0));
}

/* A function that is short by its code and was never called stays counted. Rare calls bring it back. */
Test(unit_budget_levels, functions_that_were_never_called_stay_counted)
{
    struct budget_function f = { .is_short = true };
    budget_begin_counted(&f);
    cr_assert(eq(sz, budget_quiet_looks(&f, 100), 0));
    f.counted = 1;
    cr_assert(eq(sz, budget_quiet_looks(&f, QUIET - 1), 0));
    cr_assert(eq(sz, budget_quiet_looks(&f, 1), 1));
    cr_assert(not(f.is_counted));
}

/* Brief looks count functions, and are no part of a row. The next usual one has the calls of all. */
Test(unit_budget_levels, brief_looks)
{
    struct budget_look look = usual;
    look.brief = true;
    struct budget_function f = { .calls = 50000, .inclusive = 500000 };
    uint32_t changed[1];
    cr_assert(eq(sz, budget_decide(&f, 1, &look, changed), 1));
    cr_assert(eq(u32, f.settling, 3));
    f.calls = 0;
    f.counted = 10;
    for (int i = 0; i < 100; i++)
        cr_assert(eq(sz, budget_decide(&f, 1, &look, changed), 0));
    cr_assert(eq(u32, f.settling, 3));
    cr_assert(eq(u32, f.quiet, 0));
    cr_assert(eq(u64, f.row.counted, 1000));
    look.brief = false;
    look.brief_cpu = 100 * look.cpu;
    budget_decide(&f, 1, &look, changed);
    cr_assert(eq(u32, f.settling, 2));
    cr_assert(eq(u64, f.row.counted, 0));
    cr_assert(eq(u64, f.all.counted, 1010));
}

/* 100,000 ticks are allowed without probes. A change of levels is paid for by at most a quarter of that. */
Test(unit_budget_levels, changes_are_part_of_the_overhead)
{
    struct budget_look look = usual;
    struct budget_function f = { .calls = 7000, .inclusive = 700000 }; /* 70,000 of 93,000 ticks */
    uint32_t changed[1];
    look.changes = 20000;
    cr_assert(eq(u64, budget_pays(&look), 20000));
    cr_assert(eq(sz, budget_decide(&f, 1, &look, changed), 0));
    look.changes = 1000000;
    cr_assert(eq(u64, budget_pays(&look), 25000));
    cr_assert(eq(sz, budget_decide(&f, 1, &look, changed), 1));
}

/* No function becomes timed again while changes are not paid for. */
Test(unit_budget_levels, nothing_comes_back_while_changes_cost)
{
    struct budget_look look = usual;
    struct budget_function f = { .counted = 10 };
    uint32_t changed[1];
    look.changes = 60000;
    budget_begin_counted(&f);
    for (int i = 0; i < 200; i++)
        cr_assert(eq(sz, budget_decide(&f, 1, &look, changed), 0));
    look.changes = 0;
    size_t looks = 0;
    while (f.is_counted && looks < 100) {
        budget_decide(&f, 1, &look, changed);
        looks++;
    }
    cr_assert(le(sz, looks, 2 * QUIET));
}
