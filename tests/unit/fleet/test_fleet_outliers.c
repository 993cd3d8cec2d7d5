/* Shares of functions that are unlike the rest. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "fleet/outliers.h"

TestSuite(unit_fleet_outliers, .timeout = 300);

enum { UNITS = 9, FUNCTION = 7 };

static const uint64_t wholes[UNITS] = { 100, 200, 100, 100, 100, 300, 100, 100, 100 };

/* Adds the times of a function in units that each have this share, in percent. */
static void outliers_add_shares(struct outliers_search *s, uint32_t function, const double *percent)
{
    for (uint32_t i = 0; i < s->units; i++)
        if (percent[i] > 0)
            outliers_add(s, &(struct outliers_part){ .function = function,
                                                     .unit = i,
                                                     .time = (uint64_t)(percent[i] * (double)wholes[i] / 100),
                                                     .least = 100 * function + i,
                                                     .most = 1000 * function + i });
}

static struct outliers_search outliers_among(const double *percent, size_t units)
{
    struct outliers_search s = outliers_begin(wholes, units);
    outliers_add_shares(&s, FUNCTION, percent);
    outliers_end(&s);
    return s;
}

Test(unit_fleet_outliers, a_share_far_from_the_median_is_found)
{
    const double percent[UNITS] = { 20, 21, 19, 20, 50, 20, 22, 1, 20 };
    struct outliers_search s = outliers_among(percent, UNITS);
    cr_assert(eq(sz, s.count, 2));
    cr_assert(eq(u32, s.list[0].unit, 4));
    cr_assert(eq(u32, s.list[1].unit, 7));
    cr_assert(eq(u32, s.list[0].function, FUNCTION));
    cr_assert(eq(u64, s.list[0].least, 100 * FUNCTION + 4));
    cr_assert(eq(u64, s.list[1].most, 1000 * FUNCTION + 7));
    cr_assert(epsilon_eq(dbl, s.list[0].usual, 0.20, 1e-9));
    cr_assert(epsilon_eq(dbl, s.list[0].spread, 0.014826, 1e-9));
    cr_assert(epsilon_eq(dbl, outlier_score(&s.list[0]), 0.30 / 0.014826, 1e-6));
    outliers_drop(&s);
}

Test(unit_fleet_outliers, a_function_that_one_run_has_is_found)
{
    const double percent[UNITS] = { 0, 0, 0, 2, 0, 0, 0, 0, 0 };
    struct outliers_search s = outliers_among(percent, UNITS);
    cr_assert(eq(sz, s.count, 1));
    cr_assert(eq(u32, s.list[0].unit, 3));
    cr_assert(epsilon_eq(dbl, outlier_score(&s.list[0]), 20, 1e-6));
    outliers_drop(&s);
}

static size_t outliers_number(const double *percent, size_t units)
{
    struct outliers_search s = outliers_among(percent, units);
    outliers_drop(&s);
    return s.count;
}

Test(unit_fleet_outliers, shares_that_vary_and_small_differences_are_not_found)
{
    const double varying[UNITS] = { 10, 20, 30, 40, 50, 60, 70, 80, 90 };
    const double close[UNITS] = { 10, 10.5, 10, 10, 10, 10.67, 10, 10, 10 };
    const double few[UNITS] = { 0, 0, 100 };
    cr_assert(eq(sz, outliers_number(varying, UNITS), 0));
    cr_assert(eq(sz, outliers_number(close, UNITS), 0));
    cr_assert(eq(sz, outliers_number(few, 3), 0));
}

/* No share of a function counts for the next one. The times of several runs of a host add up. */
Test(unit_fleet_outliers, each_function_is_searched_by_itself)
{
    const double first[UNITS] = { 0, 0, 0, 12, 0, 0, 0, 0, 0 }, second[UNITS] = { 30, 0, 0, 0, 0, 0, 0, 0, 0 },
                 none[UNITS] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    struct outliers_search s = outliers_begin(wholes, UNITS);
    outliers_add_shares(&s, 0, first);
    outliers_add_shares(&s, 5, none);
    outliers_add_shares(&s, 2, second);
    outliers_add_shares(&s, 2, second);
    outliers_add_shares(&s, 9, first);
    outliers_end(&s);
    cr_assert(eq(sz, s.count, 3));
    const struct outlier expected[] = { { 0, 2, 0.6, 0, 0, 0, 0 },
                                        { 3, 0, 0.12, 0, 0, 0, 0 },
                                        { 3, 9, 0.12, 0, 0, 0, 0 } };
    for (size_t i = 0; i < s.count; i++) {
        cr_assert(eq(u32, s.list[i].unit, expected[i].unit), "outlier %zu", i);
        cr_assert(eq(u32, s.list[i].function, expected[i].function), "outlier %zu", i);
        cr_assert(epsilon_eq(dbl, s.list[i].share, expected[i].share, 1e-9), "outlier %zu", i);
        cr_assert(eq(dbl, s.list[i].usual, 0), "outlier %zu", i);
    }
    outliers_drop(&s);
}
