/* When an overhead budget looks, on a clock made by hand. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "profile/budget_schedule.h"

TestSuite(unit_budget_schedule, .timeout = 120);

#define MS UINT64_C(1000000)

/* The first change of levels comes within 50 ms of a hot phase. In the worst case, the phase begins just after the
 * begin of a look. */
Test(unit_budget_schedule, a_hot_phase_is_seen_within_50_ms)
{
    for (uint64_t took = 0; took <= 15 * MS; took += MS / 2) {
        struct budget_schedule s = { 0 };
        uint64_t now = 0;
        for (int look = 0; look < 1000; look++) {
            const uint64_t phase = now;
            now += took;
            const uint64_t next = now + budget_schedule_rest(&s, took, false);
            cr_assert(le(u64, next + took - phase, 50 * MS), "look %d of %llu ns", look, (unsigned long long)took);
            now = next;
        }
    }
}

/* 99 looks without a change are followed by rests of 10 ms, and later ones by 20 ms, until something changes. */
Test(unit_budget_schedule, is_rarer_while_nothing_changes)
{
    struct budget_schedule s = { 0 };
    for (int round = 0; round < 2; round++) {
        for (int look = 1; look <= 99; look++)
            cr_assert(eq(u64, budget_schedule_rest(&s, MS, false), 10 * MS));
        cr_assert(eq(u64, budget_schedule_rest(&s, MS, false), 20 * MS));
        cr_assert(eq(u64, budget_schedule_rest(&s, MS, false), 20 * MS));
        cr_assert(eq(u64, budget_schedule_rest(&s, MS, true), 10 * MS));
    }
}

/* Looks take at most half of a processor. */
Test(unit_budget_schedule, long_looks_have_long_rests)
{
    struct budget_schedule s = { 0 };
    cr_assert(eq(u64, budget_schedule_rest(&s, 10 * MS, false), 10 * MS));
    cr_assert(eq(u64, budget_schedule_rest(&s, 10 * MS + 1, false), 10 * MS + 1));
    cr_assert(eq(u64, budget_schedule_rest(&s, 3000 * MS, true), 3000 * MS));
}
