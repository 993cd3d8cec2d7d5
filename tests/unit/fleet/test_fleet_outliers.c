/* Shares of functions that are unlike the rest. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "fleet/outliers.h"

TestSuite(unit_fleet_outliers, .timeout = 300);

enum { UNITS = 9 };

static size_t outliers_among(const double *shares, size_t count, struct outlier *found)
{
    double sorted[UNITS];
    return outliers_find(7, shares, count, sorted, found);
}

Test(unit_fleet_outliers, a_share_far_from_the_median_is_found)
{
    const double shares[UNITS] = { 0.20, 0.21, 0.19, 0.20, 0.50, 0.20, 0.22, 0.01, 0.20 };
    struct outlier found[UNITS];
    cr_assert(eq(sz, outliers_among(shares, UNITS, found), 2));
    cr_assert(eq(u32, found[0].unit, 4));
    cr_assert(eq(u32, found[1].unit, 7));
    cr_assert(eq(u32, found[0].function, 7));
    cr_assert(epsilon_eq(dbl, found[0].usual, 0.20, 1e-9));
    cr_assert(epsilon_eq(dbl, found[0].spread, 0.014826, 1e-9));
    cr_assert(epsilon_eq(dbl, outlier_score(&found[0]), 0.30 / 0.014826, 1e-6));
}

Test(unit_fleet_outliers, a_function_that_one_run_has_is_found)
{
    const double shares[UNITS] = { 0, 0, 0, 0.02, 0, 0, 0, 0, 0 };
    struct outlier found[UNITS];
    cr_assert(eq(sz, outliers_among(shares, UNITS, found), 1));
    cr_assert(eq(u32, found[0].unit, 3));
    cr_assert(epsilon_eq(dbl, outlier_score(&found[0]), 20, 1e-6));
}

Test(unit_fleet_outliers, shares_that_vary_and_small_differences_are_not_found)
{
    const double varying[UNITS] = { 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.90 };
    const double close[UNITS] = { 0.10, 0.10, 0.10, 0.10, 0.109, 0.10, 0.10, 0.10, 0.10 };
    const double few[UNITS] = { 0, 0, 1 };
    struct outlier found[UNITS];
    cr_assert(eq(sz, outliers_among(varying, UNITS, found), 0));
    cr_assert(eq(sz, outliers_among(close, UNITS, found), 0));
    cr_assert(eq(sz, outliers_among(few, 3, found), 0));
}
