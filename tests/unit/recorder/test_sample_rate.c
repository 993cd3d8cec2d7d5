/* How many samples a second an overhead budget allows: exact rates for given costs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "recorder/sample_rate.h"

TestSuite(unit_sample_rate, .timeout = 300);

/* Half of a budget of 10 % is 50 ms of a second. A sample costs three times as much as its stop. */
Test(unit_sample_rate, half_of_the_budget)
{
    cr_assert(eq(u32, sample_rate_within(100, 10000), 1600)); /* 1,666 */
    cr_assert(eq(u32, sample_rate_within(100, 50000), 330));
    cr_assert(eq(u32, sample_rate_within(300, 50000), 1000));
    cr_assert(eq(u32, sample_rate_within(1000, 100000), 1600));
}

Test(unit_sample_rate, two_digits)
{
    cr_assert(eq(u32, sample_rate_within(100, 22000), 750)); /* 757 */
    cr_assert(eq(u32, sample_rate_within(100, 25100), 660)); /* 664 */
    cr_assert(eq(u32, sample_rate_within(10, 22000), 75));
    cr_assert(eq(u32, sample_rate_within(10, 17000), 98));
}

Test(unit_sample_rate, limits)
{
    cr_assert(eq(u32, sample_rate_within(300, 5000), 10000));
    cr_assert(eq(u32, sample_rate_within(300, 5001), 9900));
    cr_assert(eq(u32, sample_rate_within(10000, 1), 10000));
    cr_assert(eq(u32, sample_rate_within(10, 6000000000), 1));
    cr_assert(eq(u32, sample_rate_within(10, UINT64_MAX), 1));
}

Test(unit_sample_rate, unknown_cost)
{
    cr_assert(eq(u32, sample_rate_within(100, 0), 1000));
    cr_assert(eq(u32, sample_rate_rest(100, 0, 1000), 100));
}

/* Until 0.4 s of CPU time, a budget allows half as many samples again. 0.3 s have 373 then, if one stops for 20 us. */
Test(unit_sample_rate, first_and_later_periods)
{
    static const struct {
        uint32_t permille;
        uint64_t stop;
        uint32_t first, later;
    } cases[] = { { 100, 20000, 803212, 1204818 },         { 100, 56000, 2298850, 3448275 },
                  { 300, 7600, 102564, 153846 },           { 300, 7400, 149253, 149253 },
                  { 300, 1000, 100000, 100000 },           { 100, 0, 1000000, 1000000 },
                  { 10, 6000000000, 666666666, 999999999 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sample_periods p = sample_periods_within(cases[i].permille, cases[i].stop);
        cr_assert(eq(u32, p.first, cases[i].first), "%zu", i);
        cr_assert(eq(u32, p.later, cases[i].later), "%zu", i);
    }
}

Test(unit_sample_rate, one_rate)
{
    static const unsigned periods[][2] = { { 0, 0 }, { 1, 1000000000 }, { 290, 3448275 }, { 10000, 100000 } };
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        const struct sample_periods p = sample_periods_of(periods[i][0]);
        cr_assert(eq(u32, p.first, periods[i][1]));
        cr_assert(eq(u32, p.later, periods[i][1]));
    }
}

/* 750 samples of 66 us take 49.5 ms of a second. */
Test(unit_sample_rate, the_rest_is_for_the_probes)
{
    cr_assert(eq(u32, sample_rate_rest(100, 22000, 750), 51));
    cr_assert(eq(u32, sample_rate_rest(100, 2000, 10000), 40));
    cr_assert(eq(u32, sample_rate_rest(10, 1600000, 1), 6));
    cr_assert(eq(u32, sample_rate_rest(10, 6000000000, 1), 1));
    cr_assert(eq(u32, sample_rate_rest(10, UINT64_MAX, 10000), 1));
}
