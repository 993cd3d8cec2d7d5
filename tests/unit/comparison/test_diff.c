/* Comparisons of sessions: which rows are matched, means and changes, which changes are significant, and which
 * conditions fail. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "comparison/diff.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/versions.h"

TestSuite(unit_diff, .timeout = 300);

static const struct diff_options usual = { .sort = DIFF_ELAPSED_EXCLUSIVE, .large.percent = 1 };

static void diff_add_version(struct diff *d, enum diff_side side, const struct version *v)
{
    struct analysis analysis;
    version_save(v, test_path("version.dwell"));
    load_whole(&analysis, test_path("version.dwell"), 1);
    EXPECT_SUCCESS(diff_add(d, side, &analysis, &error));
    analysis_drop(&analysis);
}

static struct diff *diff_compare(enum diff_by by, const struct version *before, const struct version *after,
                                 const struct diff_options *options)
{
    struct diff *d = diff_new(by);
    diff_add_version(d, DIFF_BEFORE, before);
    diff_add_version(d, DIFF_AFTER, after);
    diff_judge(d, options);
    return d;
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

static void expect_pair(const struct diff *d, const char *name, enum diff_value value, uint64_t before, uint64_t after)
{
    const struct diff_pair *pair = &diff_row_of(d, name)->values[value];
    cr_assert(eq(u64, pair->mean[DIFF_BEFORE], before), "%s %s", name, diff_value_name(value));
    cr_assert(eq(u64, pair->mean[DIFF_AFTER], after), "%s %s", name, diff_value_name(value));
}

/* ---- statistics ---- */

Test(unit_diff, students_t)
{
    cr_assert(epsilon_eq(dbl, student_two_sided(0, 7), 1, 1e-12));
    cr_assert(
        epsilon_eq(dbl, student_two_sided(1, 1), 0.5, 1e-12)); /* Cauchy's distribution: a quarter on each side of 1 */
    cr_assert(epsilon_eq(dbl, student_two_sided(2, 2), 1 - 2 / sqrt(6), 1e-12));
    cr_assert(epsilon_eq(dbl, student_two_sided(12.7062047362, 1), 0.05, 1e-9)); /* from tables */
    cr_assert(epsilon_eq(dbl, student_two_sided(-2.7764451052, 4), 0.05, 1e-9));
    cr_assert(epsilon_eq(dbl, student_two_sided(4.6040948713, 4), 0.01, 1e-9));
    cr_assert(epsilon_eq(dbl, student_two_sided(1.9599639845, 1e9), 0.05, 1e-6)); /* the normal distribution's */
}

Test(unit_diff, welchs_test)
{
    /* Means 2 and 5, variances 1 and 4, three sessions each: t is 3 / sqrt(5 / 3), degrees (5 / 3)^2 / (1 / 18 + 16 /
     * 18). */
    const struct sample x = sample_of((double[]){ 1, 2, 3 }, 3), y = sample_of((double[]){ 3, 5, 7 }, 3);
    cr_assert(epsilon_eq(dbl, x.mean, 2, 1e-12));
    cr_assert(epsilon_eq(dbl, x.variance, 1, 1e-12));
    cr_assert(epsilon_eq(dbl, y.variance, 4, 1e-12));
    cr_assert(epsilon_eq(dbl, welch_test(&x, &y), student_two_sided(3 / sqrt(5.0 / 3), 25.0 / 9 * 18 / 17), 1e-12));
    cr_assert(epsilon_eq(dbl, welch_test(&x, &x), 1, 1e-12));
    const struct sample one = sample_of((double[]){ 9 }, 1);
    cr_assert(isnan(welch_test(&x, &one)) && isnan(welch_test(&one, &x)));
    const struct sample same = sample_of((double[]){ 4, 4 }, 2), other = sample_of((double[]){ 5, 5 }, 2);
    cr_assert(epsilon_eq(dbl, welch_test(&same, &same), 1, 0));
    cr_assert(epsilon_eq(dbl, welch_test(&same, &other), 0, 0));
}

Test(unit_diff, adjustment_for_many_tests)
{
    double p[] = { 0.04, NAN, 0.01, 0.03, 0.5 };
    adjust_for_many(p, 5); /* four tests: 4/1, 4/2, 4/3 and 4/4 times, each at most the next one */
    cr_assert(epsilon_eq(dbl, p[2], 0.04, 1e-12));
    cr_assert(epsilon_eq(dbl, p[3], 0.04 * 4 / 3, 1e-12));
    cr_assert(epsilon_eq(dbl, p[0], 0.04 * 4 / 3, 1e-12));
    cr_assert(epsilon_eq(dbl, p[4], 0.5, 1e-12));
    cr_assert(isnan(p[1]));
    adjust_for_many(NULL, 0);
}

/* ---- matching ---- */

Test(unit_diff, functions_are_matched_by_name_at_any_address)
{
    const struct version before = { .lookups = 3, .main_time = 1000, .source = SOURCE_PERF };
    const struct version after = { .shift = 0x40, .lookups = 5, .main_time = 700, .source = SOURCE_PERF };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &before, &after, &usual);
    cr_assert(eq(sz, d->row_count, 2));
    expect_pair(d, "main (shop)", DIFF_CALLS, 1, 1);
    expect_pair(d, "main (shop)", DIFF_ELAPSED_INCLUSIVE, 1300, 1200);
    expect_pair(d, "main (shop)", DIFF_ELAPSED_EXCLUSIVE, 1000, 700);
    expect_pair(d, "price::lookup(int) (libprice.so)", DIFF_CALLS, 3, 5);
    expect_pair(d, "price::lookup(int) (libprice.so)", DIFF_ELAPSED_EXCLUSIVE, 300, 500);
    expect_pair(d, "price::lookup(int) (libprice.so)", DIFF_APPLICATION_INCLUSIVE, 300, 500);
    expect_pair(d, "price::lookup(int) (libprice.so)", DIFF_CPU_EXCLUSIVE, 300, 500);
    cr_assert(eq(sz, d->remark_count, 0));
    diff_free(d);
}

Test(unit_diff, functions_of_one_side_only)
{
    const struct version before = { .lookups = 2, .main_time = 100, .logged = true };
    const struct version after = { .lookups = 2, .main_time = 100, .cached = true };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &before, &after, &usual);
    const struct diff_row *logged = diff_row_of(d, "log_line (shop)"),
                          *cached = diff_row_of(d, "price::cached(int) (libprice.so)");
    cr_assert(logged->present[DIFF_BEFORE] && !logged->present[DIFF_AFTER]);
    cr_assert(cached->present[DIFF_AFTER] && !cached->present[DIFF_BEFORE]);
    expect_pair(d, "log_line (shop)", DIFF_ELAPSED_EXCLUSIVE, 30, 0);
    expect_pair(d, "price::cached(int) (libprice.so)", DIFF_ELAPSED_EXCLUSIVE, 0, 50);
    diff_free(d);
}

Test(unit_diff, modules_and_call_paths)
{
    const struct version before = { .lookups = 2, .main_time = 100 };
    const struct version after = { .shift = 0x1000, .lookups = 2, .main_time = 160, .cached = true };
    struct diff *d = diff_compare(DIFF_MODULES, &before, &after, &usual);
    cr_assert(eq(sz, d->row_count, 2));
    expect_pair(d, "shop", DIFF_ELAPSED_EXCLUSIVE, 100, 160);
    expect_pair(d, "libprice.so", DIFF_ELAPSED_INCLUSIVE, 200, 250);
    expect_pair(d, "libprice.so", DIFF_CALLS, 2, 3);
    diff_free(d);
    d = diff_compare(DIFF_PATHS, &before, &after, &usual);
    cr_assert(eq(sz, d->row_count, 3));
    expect_pair(d, "main", DIFF_ELAPSED_INCLUSIVE, 300, 410);
    expect_pair(d, "main;price::lookup(int)", DIFF_ELAPSED_INCLUSIVE, 200, 250);
    expect_pair(d, "main;price::lookup(int)", DIFF_ELAPSED_EXCLUSIVE, 200, 200);
    expect_pair(d, "main;price::lookup(int);price::cached(int)", DIFF_CALLS, 0, 1);
    diff_free(d);
}

Test(unit_diff, a_program_of_another_name_is_another_version)
{
    const struct version before = { .program = "shop-1.0", .lookups = 1, .main_time = 100 };
    const struct version after = { .program = "shop-1.1", .lookups = 1, .main_time = 150 };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &before, &after, &usual);
    cr_assert(eq(sz, d->row_count, 2));
    expect_pair(d, "main (shop-1.0)", DIFF_ELAPSED_EXCLUSIVE, 100, 150);
    cr_assert(eq(sz, d->remark_count, 1));
    cr_assert(strstr(d->remarks[0], "'shop-1.1' is compared as another version of 'shop-1.0'") != NULL);
    diff_free(d);
}

/* Two static functions "step" of one module, one calling the other. They are one row, whose time counts once. */
Test(unit_diff, functions_of_one_name_are_one_row)
{
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    for (int side = 0; side < DIFF_SIDES; side++) {
        struct analysis analysis;
        struct writer *w = writer_new();
        write_process(w, 1, 100, "/bin/prog");
        write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
        write_module(w, 1, 1, 0x400000, 0x400000, 0x500000, 0, "/bin/prog");
        write_symbol_module(w, 0, "/bin/prog");
        write_symbol(w, 0, 0, 0, 0x1000, "step");
        write_symbol(w, 0, 0, 0, 0x2000, "step");
        begin_events(w, 1, 1, 0, 1000, NULL, 0);
        write_enter(w, 1000, 0x401000);
        write_enter(w, 1010, 0x402000);
        write_exit(w, 1030);
        write_exit(w, 1040);
        write_enter(w, 1040, 0x7f00dead0000 + (uint64_t)side); /* in no module: its address means nothing */
        write_exit(w, 1045);
        end_events(w, true);
        writer_save(w, test_path("steps.dwell"));
        writer_free(w);
        load_whole(&analysis, test_path("steps.dwell"), 1);
        EXPECT_SUCCESS(diff_add(d, (enum diff_side)side, &analysis, &error));
        analysis_drop(&analysis);
    }
    diff_judge(d, &usual);
    cr_assert(eq(sz, d->row_count, 2));
    expect_pair(d, "step (prog)", DIFF_CALLS, 2, 2);
    expect_pair(d, "step (prog)", DIFF_ELAPSED_INCLUSIVE, 40, 40);
    expect_pair(d, "step (prog)", DIFF_ELAPSED_EXCLUSIVE, 40, 40);
    expect_pair(d, "[unknown] ([unknown])", DIFF_CALLS, 1, 1);
    diff_free(d);
}

Test(unit_diff, clocks_of_different_resolutions)
{
    const struct version before = { .lookups = 1, .main_time = 100 };
    const struct version after = { .lookups = 1, .main_time = 100, .ticks_per_ns = 3 };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &before, &after, &usual);
    expect_pair(d, "main (shop)", DIFF_ELAPSED_INCLUSIVE, 200, 200);
    diff_free(d);
}

Test(unit_diff, values_that_not_all_sessions_know)
{
    const struct version seeing = { .lookups = 1, .main_time = 100, .source = SOURCE_PERF };
    const struct version flags = { .lookups = 1, .main_time = 100, .source = SOURCE_RSEQ };
    const struct version blind = { .lookups = 1, .main_time = 100, .source = SOURCE_NONE };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &seeing, &seeing, &usual);
    cr_assert(d->known[DIFF_APPLICATION_EXCLUSIVE] && d->known[DIFF_CPU_INCLUSIVE]);
    diff_free(d);
    d = diff_compare(DIFF_FUNCTIONS, &seeing, &flags, &usual);
    cr_assert(d->known[DIFF_APPLICATION_EXCLUSIVE] && !d->known[DIFF_CPU_INCLUSIVE]);
    diff_free(d);
    d = diff_compare(DIFF_FUNCTIONS, &blind, &seeing, &usual);
    cr_assert(d->known[DIFF_CALLS] && !d->known[DIFF_APPLICATION_EXCLUSIVE] && !d->known[DIFF_CPU_INCLUSIVE]);
    diff_free(d);
}

/* ---- several sessions and significance ---- */

static struct diff *three_each(uint64_t main_before, uint64_t main_after, const uint64_t noise[3],
                               unsigned lookups_after)
{
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    for (int i = 0; i < 3; i++)
        diff_add_version(d, DIFF_BEFORE,
                         &(struct version){ .lookups = 2, .main_time = main_before, .noise = noise[i] });
    for (int i = 0; i < 3; i++)
        diff_add_version(
            d, DIFF_AFTER,
            &(struct version){ .shift = 0x80, .lookups = lookups_after, .main_time = main_after, .noise = noise[i] });
    diff_judge(d, &usual);
    return d;
}

Test(unit_diff, a_change_beyond_the_noise_is_significant_and_first)
{
    struct diff *d = three_each(10000, 10300, (uint64_t[]){ 0, 7, 2 }, 2);
    expect_pair(d, "main (shop)", DIFF_ELAPSED_EXCLUSIVE, 10003, 10303);
    expect_pair(d, "price::lookup(int) (libprice.so)", DIFF_ELAPSED_EXCLUSIVE, 206, 206);
    const struct diff_pair *main_pair = &diff_row_of(d, "main (shop)")->values[DIFF_ELAPSED_EXCLUSIVE];
    const struct diff_pair *lookup =
        &diff_row_of(d, "price::lookup(int) (libprice.so)")->values[DIFF_ELAPSED_EXCLUSIVE];
    /* Variances of 13: t is 300 / sqrt(26 / 3), of 4 degrees; of two tests. */
    cr_assert(epsilon_eq(dbl, main_pair->probability, 2 * student_two_sided(300 / sqrt(26.0 / 3), 4), 1e-12));
    cr_assert(eq(int, main_pair->judged, JUDGED_SIGNIFICANT));
    cr_assert(epsilon_eq(dbl, lookup->probability, 1, 1e-12));
    cr_assert(eq(int, lookup->judged, JUDGED_NOTHING));
    cr_assert(eq(ptr, (void *)diff_row_of(d, "main (shop)"), (void *)&d->rows[0]));
    diff_free(d);
}

Test(unit_diff, a_change_within_the_noise_is_not)
{
    struct diff *d = three_each(10000, 10300, (uint64_t[]){ 0, 900, 100 }, 2);
    cr_assert(eq(int, diff_row_of(d, "main (shop)")->values[DIFF_ELAPSED_EXCLUSIVE].judged, JUDGED_NOTHING));
    diff_free(d);
}

Test(unit_diff, times_that_agree_by_chance_prove_nothing)
{
    struct diff *d = three_each(10000, 10001, (uint64_t[]){ 0, 0, 0 }, 2);
    cr_assert(eq(int, diff_row_of(d, "main (shop)")->values[DIFF_ELAPSED_EXCLUSIVE].judged, JUDGED_NOTHING));
    diff_free(d);
}

Test(unit_diff, calls_are_exact_where_sessions_agree)
{
    struct diff *d = three_each(100, 100, (uint64_t[]){ 0, 50, 500 }, 3);
    const struct diff_pair *lookups = &diff_row_of(d, "price::lookup(int) (libprice.so)")->values[DIFF_CALLS];
    cr_assert(eq(int, lookups->judged, JUDGED_CERTAIN));
    cr_assert(isnan(lookups->probability));
    cr_assert(eq(int, diff_row_of(d, "main (shop)")->values[DIFF_CALLS].judged, JUDGED_NOTHING));
    diff_free(d);
    d = diff_new(DIFF_FUNCTIONS);
    for (unsigned i = 0; i < 4; i++) /* 1 and 4 calls before, 2 and 5 after: not significant */
        diff_add_version(d, i < 2 ? DIFF_BEFORE : DIFF_AFTER,
                         &(struct version){ .lookups = 1 + i % 2 * 3 + i / 2, .main_time = 100 });
    diff_judge(d, &usual);
    lookups = &diff_row_of(d, "price::lookup(int) (libprice.so)")->values[DIFF_CALLS];
    cr_assert(eq(u64, lookups->sum[DIFF_BEFORE], 5));
    cr_assert(eq(u64, lookups->sum[DIFF_AFTER], 7));
    cr_assert(eq(int, lookups->judged, JUDGED_NOTHING));
    diff_free(d);
}

Test(unit_diff, with_one_session_on_a_side_changes_are_large_at_most)
{
    const struct version before = { .lookups = 5, .main_time = 9500 };
    const struct version after = { .lookups = 6, .main_time = 9599 };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &before, &after, &usual); /* of 10000 in all */
    cr_assert(eq(int, diff_row_of(d, "main (shop)")->values[DIFF_ELAPSED_EXCLUSIVE].judged, JUDGED_NOTHING));
    cr_assert(eq(int, diff_row_of(d, "price::lookup(int) (libprice.so)")->values[DIFF_ELAPSED_EXCLUSIVE].judged,
                 JUDGED_LARGE));
    cr_assert(eq(int, diff_row_of(d, "price::lookup(int) (libprice.so)")->values[DIFF_CALLS].judged, JUDGED_CERTAIN));
    diff_free(d);
    const struct diff_options fine = { .sort = DIFF_ELAPSED_EXCLUSIVE, .large.percent = 0.99 };
    d = diff_compare(DIFF_FUNCTIONS, &before, &after, &fine);
    cr_assert(eq(int, diff_row_of(d, "main (shop)")->values[DIFF_ELAPSED_EXCLUSIVE].judged, JUDGED_LARGE));
    diff_free(d);
}

Test(unit_diff, small_rows_are_left_out)
{
    const struct version before = { .lookups = 1, .main_time = 9900, .logged = true };
    const struct version after = { .lookups = 2, .main_time = 9800 };
    const struct diff_options least = { .sort = DIFF_CALLS, .large.percent = 1, .min.percent = 1.5 };
    struct diff *d =
        diff_compare(DIFF_FUNCTIONS, &before, &after, &least); /* log_line has 0.3 %, lookup 1 and then 2 % */
    cr_assert(eq(sz, d->row_count, 2));
    diff_row_of(d, "price::lookup(int) (libprice.so)");
    diff_free(d);
}

/* ---- conditions ---- */

static bool diff_condition_fails(const struct diff *d, const char *condition, const char *row)
{
    struct gate gate;
    struct error error = { NULL };
    cr_assert(diff_gate_parse(&gate, condition, &error), "%s: %s", condition, error.text);
    cr_assert(diff_gate_check(&gate, d) == NULL, "%s: %s", condition, diff_gate_check(&gate, d));
    return diff_gate_fails(&gate, d, diff_row_of(d, row));
}

Test(unit_diff, conditions)
{
    static const char lookup[] = "price::lookup(int) (libprice.so)", cached[] = "price::cached(int) (libprice.so)";
    const struct version before = { .lookups = 10, .main_time = 2000, .logged = true, .source = SOURCE_PERF };
    const struct version after = { .lookups = 11, .main_time = 1900, .cached = true, .source = SOURCE_PERF };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &before, &after, &usual);
    cr_assert(diff_condition_fails(d, "calls > +0", lookup));
    cr_assert(not(diff_condition_fails(d, "calls > +1", lookup)));
    cr_assert(diff_condition_fails(d, "calls > +9%", lookup));
    cr_assert(not(diff_condition_fails(d, "calls > +10%", lookup)));
    cr_assert(diff_condition_fails(d, "calls<+2", lookup));
    cr_assert(not(diff_condition_fails(d, "calls > +0", "main (shop)")));
    cr_assert(diff_condition_fails(d, "calls > +0", cached));
    cr_assert(diff_condition_fails(d, "calls > 1000%", cached)); /* from nothing */
    cr_assert(not(diff_condition_fails(d, "calls < +1000%", cached)));
    cr_assert(diff_condition_fails(d, "calls < -0", "log_line (shop)"));
    cr_assert(diff_condition_fails(d, "calls < -99.5 %", "log_line (shop)"));
    cr_assert(not(diff_condition_fails(d, "calls < -100%", "log_line (shop)")));
    cr_assert(diff_condition_fails(d, " all_application_exclusive  >  +99ns ", lookup)); /* 1000 to 1100 */
    cr_assert(not(diff_condition_fails(d, "all_application_exclusive > +100ns", lookup)));
    cr_assert(diff_condition_fails(d, "all_elapsed_exclusive > +0.0999us", lookup));
    cr_assert(not(diff_condition_fails(d, "all_elapsed_exclusive > +0.1us", lookup)));
    cr_assert(not(diff_condition_fails(d, "all_cpu_exclusive > +0.0001ms", lookup)));
    cr_assert(diff_condition_fails(d, "all_cpu_exclusive > +0.000000099s", lookup));
    cr_assert(diff_condition_fails(d, "all_elapsed_exclusive < -4%", "main (shop)"));
    cr_assert(not(diff_condition_fails(d, "all_elapsed_exclusive < -5%", "main (shop)")));
    diff_free(d);
}

Test(unit_diff, conditions_of_several_sessions)
{
    struct diff *d = three_each(10000, 10300, (uint64_t[]){ 0, 900, 100 }, 2);
    cr_assert(not(diff_condition_fails(d, "elapsed_exclusive > +1%", "main (shop)"))); /* more, but within the noise */
    diff_free(d);
    d = three_each(10000, 10300, (uint64_t[]){ 0, 7, 2 }, 3);
    cr_assert(diff_condition_fails(d, "elapsed_exclusive > +2%", "main (shop)"));
    cr_assert(not(diff_condition_fails(d, "elapsed_exclusive > +3%", "main (shop)"))); /* 300 of 10003 */
    cr_assert(diff_condition_fails(d, "calls > +0", "price::lookup(int) (libprice.so)"));
    diff_free(d);
}

/* A mark may be chance once in twenty times, a failure once in a hundred. */
Test(unit_diff, conditions_need_more_than_a_mark)
{
    struct diff *d = three_each(10000, 10300, (uint64_t[]){ 0, 150, 75 }, 2);
    const struct diff_pair *pair = &diff_row_of(d, "main (shop)")->values[DIFF_ELAPSED_EXCLUSIVE];
    cr_assert(eq(int, pair->judged, JUDGED_SIGNIFICANT));
    cr_assert(gt(dbl, pair->probability, 0.01));
    cr_assert(lt(dbl, pair->probability, 0.05));
    cr_assert(not(diff_condition_fails(d, "elapsed_exclusive > +1%", "main (shop)")));
    cr_assert(diff_condition_fails(d, "all_elapsed_exclusive > +1%", "main (shop)"));
    diff_free(d);
}

Test(unit_diff, conditions_on_times_need_several_sessions)
{
    const struct version version = { .lookups = 1, .main_time = 100, .source = SOURCE_PERF };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &version, &version, &usual);
    struct gate gate;
    struct error error = { NULL };
    cr_assert(diff_gate_parse(&gate, "cpu_exclusive > +10%", &error));
    cr_assert(diff_gate_check(&gate, d) != NULL);
    cr_assert(diff_gate_parse(&gate, "all_cpu_exclusive > +10%", &error));
    cr_assert(diff_gate_check(&gate, d) == NULL);
    diff_free(d);
}

Test(unit_diff, invalid_conditions)
{
    static const char *const texts[] = {
        "",
        "calls",
        "calls >",
        "calls > +",
        "calls > x",
        "calls = 5",
        "> 5",
        "calls > +5ms",
        "calls > 5 5",
        "calls > 5.",
        "calls > .5",
        "speed > 5",
        "all_speed > 5",
        "all_ > 5",
        "elapsed_inclusive > 5h",
        "elapsed_inclusive > 1e3ns",
        "calls > +-5",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gate gate;
        struct error error = { NULL };
        cr_assert(not(diff_gate_parse(&gate, texts[i], &error)), "%s", texts[i]);
        cr_assert(error.text != NULL);
        error_drop(&error);
    }
    const struct version blind = { .lookups = 1, .main_time = 100, .source = SOURCE_NONE };
    struct diff *d = diff_compare(DIFF_FUNCTIONS, &blind, &blind, &usual);
    struct gate gate;
    struct error error = { NULL };
    cr_assert(diff_gate_parse(&gate, "application_exclusive > +5%", &error));
    cr_assert(eq(str, (char *)diff_gate_check(&gate, d), "some of these sessions do not have this value"));
    cr_assert(diff_gate_parse(&gate, "elapsed_exclusive > +5", &error));
    cr_assert(eq(str, (char *)diff_gate_check(&gate, d), "a time needs a unit: %, ns, us, ms or s"));
    diff_free(d);
}

/* a, b, a, b and so on, `depth` deep, and then c `more` times, each called once. */
static struct diff *diff_deep_paths(unsigned depth, unsigned more)
{
    struct diff *d = diff_new(DIFF_PATHS);
    for (int side = 0; side < DIFF_SIDES; side++) {
        struct analysis analysis;
        struct writer *w = writer_new();
        write_process(w, 1, 100, "/bin/prog");
        write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
        write_module(w, 1, 1, 0x400000, 0x400000, 0x500000, 0, "/bin/prog");
        write_symbol_module(w, 0, "/bin/prog");
        write_symbol(w, 0, 0, 0, 0x1000, "a");
        write_symbol(w, 0, 0, 0, 0x2000, "b");
        write_symbol(w, 0, 0, 0, 0x3000, "c");
        begin_events(w, 1, 1, 0, 1000, NULL, 0);
        for (unsigned i = 0; i < depth + more; i++)
            write_enter(w, 1000 + i, i >= depth ? 0x403000 : i % 2 ? 0x402000 : 0x401000);
        for (unsigned i = 0; i < depth + more; i++)
            write_exit(w, 2000 + i);
        end_events(w, true);
        writer_save(w, test_path("deep.dwell"));
        writer_free(w);
        load_whole(&analysis, test_path("deep.dwell"), 1);
        EXPECT_SUCCESS(diff_add(d, (enum diff_side)side, &analysis, &error));
        analysis_drop(&analysis);
    }
    diff_judge(d, &(struct diff_options){ .sort = DIFF_VALUES });
    return d;
}

Test(unit_diff, functions_that_call_themselves_are_one_step_of_a_path)
{
    struct diff *d = diff_deep_paths(3, 500);
    cr_assert(eq(sz, d->row_count, 503));
    diff_row_of(d, "a");
    diff_row_of(d, "a;b;a");
    diff_row_of(d, "a;b;a;c");
    diff_row_of(d, "a;b;a;c x2");
    const struct diff_row *last = diff_row_of(d, "a;b;a;c x500");
    cr_assert(eq(u32, d->places[last->key].depth, 503));
    cr_assert(eq(ptr, (void *)last, (void *)&d->rows[502])); /* by name, then depth */
    diff_free(d);
}

Test(unit_diff, very_long_paths_show_their_inner_end)
{
    struct diff *d = diff_deep_paths(65, 0);
    char all[64 * 2 + 1] = "", longer[64 * 2 + 8] = "...;";
    for (int i = 0; i < 64; i++)
        strcat(strcat(all, i ? ";" : ""), i % 2 ? "b" : "a");
    for (int i = 0; i < 64; i++)
        strcat(strcat(longer, i ? ";" : ""), i % 2 ? "a" : "b");
    diff_row_of(d, all);
    diff_row_of(d, longer);
    diff_free(d);
}
