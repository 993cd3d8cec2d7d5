/* Percentiles in comparisons: a tail that moved is found, though the mean stayed, and one that only differs by chance
 * is not. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "comparison/diff.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/versions.h"

static const char lookup[] = "price::lookup(int) (libprice.so)";

static void diff_add_version(struct diff *d, enum diff_side side, const struct version *v)
{
    const struct analysis_options options = { .jobs = 1, .durations = true };
    struct analysis analysis;
    version_save(v, test_path("version.dwell"));
    load_with(&analysis, test_path("version.dwell"), &options);
    EXPECT_SUCCESS(diff_add(d, side, &analysis, &error));
    analysis_drop(&analysis);
}

static const struct diff_row *diff_row_of(const struct diff *d, const char *name)
{
    for (size_t i = 0; i < d->row_count; i++) {
        char *own = diff_row_name(d, &d->rows[i]);
        const bool found = strcmp(own, name) == 0;
        free(own);
        if (found)
            return &d->rows[i];
    }
    cr_fatal("no row %s", name);
}

/* Within the width of a counter. */
static void expect_percentile(const struct diff_row *row, enum diff_value value, uint64_t before, uint64_t after)
{
    const uint64_t *mean = row->values[value].mean;
    cr_assert(epsilon_eq(dbl, (double)mean[DIFF_BEFORE], (double)before, (double)before / 64), "%s",
              diff_value_name(value));
    cr_assert(epsilon_eq(dbl, (double)mean[DIFF_AFTER], (double)after, (double)after / 64), "%s",
              diff_value_name(value));
}

static const struct version steady = { .lookups = 1000, .time = 1000, .slow = 9000, .source = SOURCE_PERF };
static const struct version longer_tail = { .lookups = 1000, .time = 796, .slow = 19204, .source = SOURCE_PERF };
static const struct diff_options by_p99 = { .sort = DIFF_P99, .large.percent = 1 };

/* 20 of 1,000 calls take 20 us in place of 10, and all others a little less. */
Test(unit_diff_percentiles, a_tail_that_moved_while_the_mean_stayed)
{
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    diff_add_version(d, DIFF_BEFORE, &steady);
    diff_add_version(d, DIFF_AFTER, &longer_tail);
    diff_judge(d, &by_p99);
    const struct diff_row *row = diff_row_of(d, lookup);
    cr_assert(eq(ptr, (void *)row, (void *)&d->rows[0]), "it is the first row");
    expect_percentile(row, DIFF_P50, 1000, 796);
    expect_percentile(row, DIFF_P90, 1000, 796);
    expect_percentile(row, DIFF_P99, 10000, 20000);
    expect_percentile(row, DIFF_MAX, 10000, 20000);
    cr_assert(eq(int, row->values[DIFF_P99].judged, JUDGED_LARGE));
    cr_assert(eq(int, row->values[DIFF_MAX].judged, JUDGED_LARGE));
    cr_assert(eq(int, row->values[DIFF_ELAPSED_INCLUSIVE].judged, JUDGED_NOTHING));
    cr_assert(eq(u64, row->values[DIFF_ELAPSED_INCLUSIVE].mean[DIFF_BEFORE], 1180000));
    cr_assert(eq(u64, row->values[DIFF_ELAPSED_INCLUSIVE].mean[DIFF_AFTER], 1180080));
    diff_free(d);
}

/* Sessions of different clocks, and paths. */
Test(unit_diff_percentiles, units_and_paths)
{
    struct version fast = longer_tail;
    fast.ticks_per_ns = 3;
    struct diff *d = diff_new(DIFF_PATHS);
    diff_add_version(d, DIFF_BEFORE, &steady);
    diff_add_version(d, DIFF_AFTER, &fast);
    diff_judge(d, &by_p99);
    const struct diff_row *row = diff_row_of(d, "main;price::lookup(int)");
    expect_percentile(row, DIFF_P50, 1000, 796);
    expect_percentile(row, DIFF_P99, 10000, 20000);
    cr_assert(eq(int, row->values[DIFF_P99].judged, JUDGED_LARGE));
    diff_free(d);
}

/* Two of 100 calls are no proof, and 3 % of change may be that of the machine. */
Test(unit_diff_percentiles, changes_that_prove_nothing)
{
    struct version few = steady, few_after = longer_tail, shifted = steady;
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    few.lookups = few_after.lookups = 100;
    diff_add_version(d, DIFF_BEFORE, &few);
    diff_add_version(d, DIFF_AFTER, &few_after);
    diff_judge(d, &by_p99);
    expect_percentile(diff_row_of(d, lookup), DIFF_P99, 10000, 20000);
    cr_assert(eq(int, diff_row_of(d, lookup)->values[DIFF_P99].judged, JUDGED_NOTHING));
    diff_free(d);
    d = diff_new(DIFF_FUNCTIONS);
    shifted.time = 1070;
    diff_add_version(d, DIFF_BEFORE, &steady);
    diff_add_version(d, DIFF_AFTER, &shifted);
    diff_judge(d, &by_p99);
    cr_assert(le(dbl, diff_row_of(d, lookup)->values[DIFF_P50].probability, 1e-9));
    cr_assert(eq(int, diff_row_of(d, lookup)->values[DIFF_P50].judged, JUDGED_NOTHING));
    diff_free(d);
}

/* Runs show how far their percentiles differ. Those that share a counter are not equal for certain. */
Test(unit_diff_percentiles, several_runs)
{
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    struct version before = steady, after = longer_tail;
    for (uint64_t noise = 0; noise < 3; noise++) {
        before.noise = after.noise = noise;
        diff_add_version(d, DIFF_BEFORE, &before);
        diff_add_version(d, DIFF_AFTER, &after);
    }
    diff_judge(d, &by_p99);
    cr_assert(eq(int, diff_row_of(d, lookup)->values[DIFF_P99].judged, JUDGED_SIGNIFICANT));
    diff_free(d);
    d = diff_new(DIFF_FUNCTIONS);
    for (int i = 0; i < 3; i++) {
        before = after = steady;
        after.time = 1020;
        diff_add_version(d, DIFF_BEFORE, &before);
        diff_add_version(d, DIFF_AFTER, &after);
    }
    diff_judge(d, &by_p99);
    cr_assert(eq(int, diff_row_of(d, lookup)->values[DIFF_P50].judged, JUDGED_NOTHING));
    diff_free(d);
}

/* A function of one side, and sessions that were loaded without durations. */
Test(unit_diff_percentiles, unknown)
{
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    struct version logged = steady;
    struct analysis analysis;
    logged.logged = true;
    diff_add_version(d, DIFF_BEFORE, &steady);
    diff_add_version(d, DIFF_AFTER, &logged);
    diff_judge(d, &by_p99);
    cr_assert(not(diff_row_knows(d, diff_row_of(d, "log_line (shop)"), DIFF_P99)));
    cr_assert(diff_row_knows(d, diff_row_of(d, lookup), DIFF_P99));
    diff_free(d);
    d = diff_new(DIFF_FUNCTIONS);
    diff_add_version(d, DIFF_BEFORE, &steady);
    version_save(&steady, test_path("version.dwell"));
    load_whole(&analysis, test_path("version.dwell"), 1);
    EXPECT_SUCCESS(diff_add(d, DIFF_AFTER, &analysis, &error));
    analysis_drop(&analysis);
    cr_assert(not(d->known[DIFF_P99]));
    diff_free(d);
}

/* By hand, and of many calls. */
Test(unit_diff_percentiles, shares)
{
    cr_assert(epsilon_eq(dbl, share_test(0, 10, 5, 10), 2 * 252.0 / 15504, 1e-12)); /* C(10, 5) / C(20, 5) */
    cr_assert(epsilon_eq(dbl, share_test(5, 10, 0, 10), 2 * 252.0 / 15504, 1e-12));
    cr_assert(epsilon_eq(dbl, share_test(3, 10, 3, 10), 1, 0));
    cr_assert(epsilon_eq(dbl, share_test(0, 10, 0, 90), 1, 0));
    /* 4 of 6 are among 8 of 20: (C(8, 4) C(12, 2) + C(8, 5) C(12, 1) + C(8, 6)) / C(20, 6) */
    cr_assert(epsilon_eq(dbl, share_test(4, 8, 2, 12), 2 * (70 * 66 + 56 * 12 + 28) / 38760.0, 1e-12));
    cr_assert(lt(dbl, share_test(20000, 1000000, 10000, 1000000), 1e-100));
}
