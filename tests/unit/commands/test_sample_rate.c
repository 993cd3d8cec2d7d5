/* How many samples a second an overhead budget allows: exact rates for given costs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "commands/sample_rate.h"

TestSuite(unit_sample_rate, .timeout = 300);

/* Half of a budget of 10 % is 50 ms of a second. */
Test(unit_sample_rate, half_of_the_budget)
{
    cr_assert(eq(u32, sample_rate_within(100, 25000), 2000));
    cr_assert(eq(u32, sample_rate_within(100, 50000), 1000));
    cr_assert(eq(u32, sample_rate_within(50, 25000), 1000));
    cr_assert(eq(u32, sample_rate_within(1000, 100000), 5000));
}

Test(unit_sample_rate, two_digits)
{
    cr_assert(eq(u32, sample_rate_within(100, 22000), 2200)); /* 2,272 */
    cr_assert(eq(u32, sample_rate_within(100, 25100), 1900)); /* 1,992 */
    cr_assert(eq(u32, sample_rate_within(10, 22000), 220));   /* 227 */
    cr_assert(eq(u32, sample_rate_within(10, 51000), 98));
}

Test(unit_sample_rate, limits)
{
    cr_assert(eq(u32, sample_rate_within(100, 5000), 10000));
    cr_assert(eq(u32, sample_rate_within(100, 5001), 9900));
    cr_assert(eq(u32, sample_rate_within(10000, 1), 10000));
    cr_assert(eq(u32, sample_rate_within(10, 6000000000), 1));
    cr_assert(eq(u32, sample_rate_within(10, UINT64_MAX), 1));
}

Test(unit_sample_rate, unknown_cost)
{
    cr_assert(eq(u32, sample_rate_within(100, 0), 1000));
    cr_assert(eq(u32, sample_rate_rest(100, 0, 1000), 100));
}

/* 2,200 samples of 22 µs take 48.4 ms of a second. */
Test(unit_sample_rate, the_rest_is_for_the_probes)
{
    cr_assert(eq(u32, sample_rate_rest(100, 22000, 2200), 52));
    cr_assert(eq(u32, sample_rate_rest(100, 2000, 10000), 80));
    cr_assert(eq(u32, sample_rate_rest(10, 5000000, 1), 5));
    cr_assert(eq(u32, sample_rate_rest(10, 6000000000, 1), 1));
}
