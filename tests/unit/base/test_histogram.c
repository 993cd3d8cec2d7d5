/* Exact sums, and percentiles that are exact or within half a percent. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#include "base/histogram.h"

TestSuite(unit_histogram, .timeout = 300);

static bool histogram_near(double number, double wanted, double share)
{
    return fabs(number - wanted) <= fabs(wanted) * share;
}

Test(unit_histogram, an_empty_histogram_is_all_zero)
{
    struct histogram h = { 0 };
    histogram_add(&h, 7, 0);
    cr_assert(eq(u64, h.count, 0));
    cr_assert(eq(u64, histogram_percentile(&h, 50), 0));
    cr_assert(histogram_mean(&h) == 0 && histogram_deviation_squares(&h) == 0);
    histogram_drop(&h);
}

Test(unit_histogram, percentiles_are_nearest_ranks)
{
    struct histogram h = { 0 };
    for (uint64_t i = 1; i <= 10; i++)
        histogram_add(&h, i * 10, 1);
    cr_assert(eq(u64, histogram_percentile(&h, 50), 50));
    cr_assert(eq(u64, histogram_percentile(&h, 51), 60));
    cr_assert(eq(u64, histogram_percentile(&h, 90), 90));
    cr_assert(eq(u64, histogram_percentile(&h, 99), 100));
    cr_assert(eq(u64, histogram_percentile(&h, 100), 100));
    cr_assert(eq(u64, histogram_percentile(&h, 0), 10));
    histogram_drop(&h);
}

Test(unit_histogram, sums_are_exact)
{
    struct histogram h = { 0 };
    histogram_add(&h, UINT64_MAX, 3);
    histogram_add(&h, 5, 2);
    cr_assert(eq(u64, h.count, 5));
    cr_assert(eq(u64, h.least, 5));
    cr_assert(eq(u64, h.greatest, UINT64_MAX));
    cr_assert(h.sum == (uint128)UINT64_MAX * 3 + 10);
    /* 3 * (2^128 - 2^65 + 1) + 50 */
    cr_assert(eq(u64, h.squares_above, 2));
    cr_assert(h.squares == (uint128)0 - ((uint128)3 << 65) + 53);
    histogram_drop(&h);
}

/* Here the squares of large numbers would cancel each other in floating point. */
Test(unit_histogram, deviation_of_numbers_close_together)
{
    struct histogram h = { 0 };
    const uint64_t far = 1ull << 62;
    for (uint64_t i = 0; i < 1000; i++)
        histogram_add(&h, far + i, 1);
    cr_assert(histogram_near(histogram_deviation_squares(&h), 1000.0 * (1000.0 * 1000.0 - 1) / 12, 1e-12));
    histogram_drop(&h);
    histogram_add(&h, far, 1);
    histogram_add(&h, far + 1, 2);
    cr_assert(histogram_near(histogram_deviation_squares(&h), 2.0 / 3, 1e-12));
    histogram_drop(&h);
}

Test(unit_histogram, equal_numbers_have_no_deviation)
{
    struct histogram h = { 0 };
    histogram_add(&h, 123456789012345, 1000000007);
    cr_assert(histogram_deviation_squares(&h) == 0);
    histogram_drop(&h);
}

Test(unit_histogram, many_numbers_are_within_half_a_percent)
{
    struct histogram h = { 0 };
    for (uint64_t i = 1; i <= 1000000; i++)
        histogram_add(&h, i * 7919 % 1000003 * 1000, 1);
    static const double percents[] = { 1, 10, 50, 90, 99, 99.9 };
    for (size_t p = 0; p < sizeof percents / sizeof *percents; p++) {
        const double wanted = percents[p] / 100 * 1000003 * 1000;
        cr_assert(histogram_near((double)histogram_percentile(&h, percents[p]), wanted, 0.005), "%g", percents[p]);
    }
    cr_assert(lt(sz, h.step_count, 4096));
    histogram_drop(&h);
}

/* Percentiles do not depend on the order of the values, whether exact or approximate. */
Test(unit_histogram, the_order_does_not_matter)
{
    struct histogram up = { 0 }, down = { 0 };
    for (uint64_t i = 0; i < 3000; i++) {
        histogram_add(&up, i * i, 1 + i % 3);
        histogram_add(&down, (2999 - i) * (2999 - i), 1 + (2999 - i) % 3);
    }
    cr_assert(eq(sz, up.step_count, down.step_count));
    for (size_t i = 0; i < up.step_count; i++) {
        cr_assert(eq(u64, up.steps[i].value, down.steps[i].value));
        cr_assert(eq(u64, up.steps[i].count, down.steps[i].count));
    }
    cr_assert(up.squares == down.squares && up.sum == down.sum);
    histogram_drop(&up);
    histogram_drop(&down);
}

Test(unit_histogram, percentiles_stay_between_the_least_and_the_greatest)
{
    struct histogram h = { 0 };
    for (uint64_t i = 0; i < 1000; i++)
        histogram_add(&h, UINT64_MAX - i, 1);
    cr_assert(h.rounded);
    cr_assert(eq(u64, histogram_percentile(&h, 1), UINT64_MAX - 999));
    histogram_drop(&h);
    for (uint64_t i = 0; i < 1000; i++)
        histogram_add(&h, i << 54, 1);
    histogram_add(&h, (1ull << 63) + 1, 1000000);
    cr_assert(eq(u64, histogram_percentile(&h, 100), 999ull << 54));
    histogram_drop(&h);
}
