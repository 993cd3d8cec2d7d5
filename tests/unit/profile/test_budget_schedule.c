/* When an overhead budget looks, on a clock made by hand. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "profile/budget_schedule.h"

TestSuite(unit_budget_schedule, .timeout = 120);

#define US UINT64_C(1000)
#define MS (1000 * US)

/* A usual look of `took` nanoseconds at its time. Returns when the next one is due. */
static uint64_t schedule_usual(struct budget_schedule *s, uint64_t took, bool useful)
{
    const uint64_t now = budget_schedule_due(s, false);
    cr_assert(not(budget_schedule_is_brief(s, now)));
    budget_schedule_next(s, now, now + took, took, useful);
    return budget_schedule_due(s, false) - (now + took);
}

/* A brief look as soon as it may come. Returns the time since the look before. */
static uint64_t schedule_brief(struct budget_schedule *s, uint64_t *ended, uint64_t took, bool useful)
{
    const uint64_t now = budget_schedule_due(s, true), rest = now - *ended;
    cr_assert(budget_schedule_is_brief(s, now));
    *ended = now + took;
    budget_schedule_next(s, now, *ended, took, useful);
    return rest;
}

/* The first change of levels comes within 50 ms of a hot phase if no thread asks for a look. In the worst case, the
 * phase begins just after the beginning of a look. */
Test(unit_budget_schedule, a_hot_phase_is_seen_within_50_ms)
{
    for (uint64_t took = 0; took <= 15 * MS; took += MS / 2) {
        struct budget_schedule s;
        budget_schedule_begin(&s, 0);
        for (int look = 0; look < 1000; look++) {
            const uint64_t phase = budget_schedule_due(&s, false);
            schedule_usual(&s, took, false);
            const uint64_t next = budget_schedule_due(&s, false);
            cr_assert(le(u64, next + took - phase, 50 * MS), "look %d of %llu ns", look, (unsigned long long)took);
        }
    }
}

/* 99 looks without a change are followed by rests of 10 ms, and later ones by 20 ms, until something changes. */
Test(unit_budget_schedule, is_rarer_while_nothing_changes)
{
    struct budget_schedule s;
    budget_schedule_begin(&s, 0);
    for (int round = 0; round < 2; round++) {
        for (int look = 1; look <= 99; look++)
            cr_assert(eq(u64, schedule_usual(&s, MS, false), 10 * MS));
        cr_assert(eq(u64, schedule_usual(&s, MS, false), 20 * MS));
        cr_assert(eq(u64, schedule_usual(&s, MS, false), 20 * MS));
        cr_assert(eq(u64, schedule_usual(&s, MS, true), 10 * MS));
    }
}

/* Looks take at most half of a processor. */
Test(unit_budget_schedule, long_looks_have_long_rests)
{
    struct budget_schedule s;
    budget_schedule_begin(&s, 0);
    cr_assert(eq(u64, schedule_usual(&s, 10 * MS, false), 10 * MS));
    cr_assert(eq(u64, schedule_usual(&s, 10 * MS + 1, false), 10 * MS + 1));
    cr_assert(eq(u64, schedule_usual(&s, 3000 * MS, true), 3000 * MS));
}

/* A look that is asked for begins half a millisecond after the last one, or after as long as that took. It leaves the
 * usual one at its time. */
Test(unit_budget_schedule, looks_that_are_asked_for)
{
    struct budget_schedule s;
    budget_schedule_begin(&s, 7 * MS);
    cr_assert(eq(u64, budget_schedule_due(&s, true), 7 * MS));
    uint64_t ended = 7 * MS;
    cr_assert(eq(u64, schedule_brief(&s, &ended, 100 * US, true), 0));
    cr_assert(eq(u64, schedule_brief(&s, &ended, 800 * US, true), 500 * US));
    cr_assert(eq(u64, schedule_brief(&s, &ended, 100 * US, true), 800 * US));
    cr_assert(eq(u64, budget_schedule_due(&s, false), 17 * MS));
}

/* A program that stays above its budget does not make the recorder busy: 0.5, 1, 2 and 4 ms pass between its looks. */
Test(unit_budget_schedule, looks_that_change_nothing_become_rarer)
{
    struct budget_schedule s;
    budget_schedule_begin(&s, 0);
    uint64_t ended = 0;
    schedule_brief(&s, &ended, 0, false);
    cr_assert(eq(u64, schedule_brief(&s, &ended, 0, false), MS));
    cr_assert(eq(u64, schedule_brief(&s, &ended, 0, false), 2 * MS));
    cr_assert(eq(u64, schedule_brief(&s, &ended, 0, false), 4 * MS));
    cr_assert(eq(u64, budget_schedule_due(&s, true), 10 * MS), "the usual look comes first");
    schedule_usual(&s, 0, false);
    cr_assert(eq(u64, budget_schedule_due(&s, true), 14 * MS), "half of 8 ms");
    schedule_usual(&s, 0, true);
    cr_assert(eq(u64, budget_schedule_due(&s, true) + 9500 * US, budget_schedule_due(&s, false)));
}

/* A thread that waits for a processor does not use it: the rest is as long as what the look has used. */
Test(unit_budget_schedule, a_look_that_waited_has_a_short_rest)
{
    struct budget_schedule s;
    budget_schedule_begin(&s, 0);
    budget_schedule_next(&s, 0, 30 * MS, 2 * MS, true);
    cr_assert(eq(u64, budget_schedule_due(&s, true), 32 * MS));
    cr_assert(eq(u64, budget_schedule_due(&s, false), 32 * MS));
    budget_schedule_next(&s, 32 * MS, 60 * MS, MS, false);
    cr_assert(eq(u64, budget_schedule_due(&s, false), 70 * MS));
}
