/* A timer of the PerfLog library and the ticks that it adds up. The test supplies the clock. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "perflog/timer.h"

TestSuite(unit_perflog_timer);

enum { OVERHEAD = 3 };

static struct perflog_timer timer;
static uint64_t ticks;

static bool timer_ends(uint64_t now)
{
    ticks = 4711;
    return perflog_timer_end(&timer, now, OVERHEAD, &ticks);
}

static void timer_begin(uint64_t now)
{
    perflog_timer_begin(&timer, now);
}

Test(unit_perflog_timer, from_begin_to_end_less_the_overhead)
{
    timer_begin(1000);
    cr_assert(timer_ends(1500));
    cr_assert(eq(u64, ticks, 500 - OVERHEAD));
    cr_assert(not(timer_ends(1600)));
}

Test(unit_perflog_timer, never_below_zero)
{
    for (uint64_t end = 998; end <= 1000 + OVERHEAD; end++) {
        timer_begin(1000);
        cr_assert(timer_ends(end));
        cr_assert(eq(u64, ticks, 0));
    }
    timer_begin(1000);
    cr_assert(timer_ends(1000 + OVERHEAD + 1));
    cr_assert(eq(u64, ticks, 1));
}

Test(unit_perflog_timer, beyond_32_bits)
{
    timer_begin(1);
    cr_assert(timer_ends(1ull << 40));
    cr_assert(eq(u64, ticks, (1ull << 40) - 1 - OVERHEAD));
}

Test(unit_perflog_timer, the_last_begin_counts)
{
    timer_begin(1000);
    timer_begin(2000);
    cr_assert(timer_ends(2100));
    cr_assert(eq(u64, ticks, 100 - OVERHEAD));
}

Test(unit_perflog_timer, pauses_are_left_out)
{
    timer_begin(1000);
    cr_assert(perflog_timer_pause(&timer, 1100, OVERHEAD));
    cr_assert(perflog_timer_pause(&timer, 1200, OVERHEAD)); /* pausing twice has no more effect than once */
    cr_assert(perflog_timer_go_on(&timer, 5000));
    cr_assert(perflog_timer_go_on(&timer, 5500));
    cr_assert(timer_ends(6000));
    cr_assert(eq(u64, ticks, 100 + 1000 - 2 * OVERHEAD));
}

Test(unit_perflog_timer, a_paused_timer_can_be_ended_begun_and_read)
{
    timer_begin(1000);
    cr_assert(perflog_timer_pause(&timer, 1100, OVERHEAD));
    cr_assert(perflog_timer_look(&timer, 9000, OVERHEAD, &ticks));
    cr_assert(eq(u64, ticks, 100 - OVERHEAD));
    cr_assert(timer_ends(9000));
    cr_assert(eq(u64, ticks, 100 - OVERHEAD));
    timer_begin(1000);
    cr_assert(perflog_timer_pause(&timer, 1100, OVERHEAD));
    timer_begin(2000);
    cr_assert(timer_ends(2010));
    cr_assert(eq(u64, ticks, 10 - OVERHEAD));
}

Test(unit_perflog_timer, a_timer_that_was_not_begun_does_not_run)
{
    cr_assert(not(perflog_timer_pause(&timer, 1, OVERHEAD)));
    cr_assert(not(perflog_timer_go_on(&timer, 2)));
    cr_assert(not(perflog_timer_accumulate(&timer, 3, OVERHEAD)));
    cr_assert(not(perflog_timer_look(&timer, 4, OVERHEAD, &ticks)));
    cr_assert(eq(u64, ticks, 0));
    cr_assert(not(timer_ends(5)));
}

Test(unit_perflog_timer, the_accumulator_adds_until_the_end)
{
    timer_begin(1000);
    cr_assert(perflog_timer_accumulate(&timer, 1100, OVERHEAD));
    cr_assert(not(perflog_timer_accumulate(&timer, 1150, OVERHEAD))); /* stopped */
    timer_begin(2000);
    cr_assert(perflog_timer_pause(&timer, 2010, OVERHEAD));
    cr_assert(perflog_timer_accumulate(&timer, 2500, OVERHEAD));
    timer_begin(3000);
    cr_assert(perflog_timer_look(&timer, 3050, OVERHEAD, &ticks));
    cr_assert(eq(u64, ticks, 50 - OVERHEAD)); /* only since the beginning */
    cr_assert(timer_ends(4000));
    cr_assert(eq(u64, ticks, 100 + 10 + 1000 - 3 * OVERHEAD));
    cr_assert(not(timer_ends(5000)));
}

Test(unit_perflog_timer, an_end_without_a_begin_logs_what_was_accumulated)
{
    timer_begin(1000);
    cr_assert(perflog_timer_accumulate(&timer, 1100, OVERHEAD));
    cr_assert(timer_ends(9000));
    cr_assert(eq(u64, ticks, 100 - OVERHEAD));
    timer_begin(1000);
    cr_assert(perflog_timer_accumulate(&timer, 1000, OVERHEAD)); /* even with a sum of zero */
    cr_assert(timer_ends(9000));
    cr_assert(eq(u64, ticks, 0));
}

Test(unit_perflog_timer, an_error_cancels_the_begin_alone)
{
    timer_begin(1000);
    cr_assert(perflog_timer_accumulate(&timer, 1100, OVERHEAD));
    timer_begin(2000);
    perflog_timer_cancel(&timer);
    cr_assert(timer_ends(9000));
    cr_assert(eq(u64, ticks, 100 - OVERHEAD));
    timer_begin(1000);
    perflog_timer_cancel(&timer);
    cr_assert(not(timer_ends(9000)));
}

Test(unit_perflog_timer, median)
{
    uint64_t even[] = { 90, 10, 30, 20, 1000000, 40, 25, 30, 60, 35 }, one[] = { 7 }, three[] = { 3, 1, 2 };
    cr_assert(eq(u64, perflog_median(even, 10), 30));
    cr_assert(eq(u64, perflog_median(one, 1), 7));
    cr_assert(eq(u64, perflog_median(three, 3), 2));
}
