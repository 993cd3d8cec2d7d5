/* The change that stands out among consecutive builds. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "fleet/trend.h"

TestSuite(unit_fleet_trend, .timeout = 300);

/* The figures of builds with so many runs each. */
static size_t trend_of(const double *values, size_t builds, size_t runs)
{
    size_t begins[16];
    for (size_t i = 0; i <= builds; i++)
        begins[i] = i * runs;
    return trend_find_change(&(struct trend){ values, begins, builds });
}

Test(unit_fleet_trend, a_step_is_found_with_one_run_of_each_build)
{
    static const double values[] = { 100, 102, 99, 301, 299, 300 };
    cr_assert(eq(sz, trend_of(values, 6, 1), 3));
}

Test(unit_fleet_trend, the_last_build_can_be_the_one)
{
    static const double slower[] = { 100, 102, 99, 101, 300 }, absent[] = { 0, 0, 0, 0, 5 };
    cr_assert(eq(sz, trend_of(slower, 5, 1), 4));
    cr_assert(eq(sz, trend_of(absent, 5, 1), 4));
}

Test(unit_fleet_trend, a_build_that_was_taken_back_is_found)
{
    static const double values[] = { 100, 101, 99, 100, 98, 99, 150, 151, 152, 100, 99, 98, 101, 100, 99 };
    cr_assert(eq(sz, trend_of(values, 5, 3), 2));
}

/* Both changes are certain, so the larger one stands out. */
Test(unit_fleet_trend, of_two_steps_without_noise_the_larger_one_is_found)
{
    static const double values[] = { 100, 100, 110, 110, 220, 220, 220, 220 };
    cr_assert(eq(sz, trend_of(values, 4, 2), 2));
}

Test(unit_fleet_trend, what_chance_makes_is_no_change)
{
    static const double noise[] = { 100, 140, 90, 120, 80, 130, 110, 95 }, two[] = { 100, 300 },
                        small[] = { 1000, 1000, 1001, 1001 };
    cr_assert(eq(sz, trend_of(noise, 8, 1), 0));
    cr_assert(eq(sz, trend_of(noise, 4, 2), 0));
    cr_assert(eq(sz, trend_of(two, 2, 1), 0));
    cr_assert(eq(sz, trend_of(two, 1, 2), 0));
    cr_assert(eq(sz, trend_of(small, 2, 2), 0));
}
