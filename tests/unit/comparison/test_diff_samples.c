/* Comparisons of sessions whose times are estimated by samples, or whose calls were only counted. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "comparison/diff.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"

TestSuite(unit_diff_samples, .timeout = 300);

enum { MAIN = 0x1000, WORK = 0x2000, CODE = 0x5000, TAKES = 10000000 };

/* main takes 10 ms, of which `work` takes 1 ms if it is timed and does not end later. Of 100 samples, `in_code` are in
 * a function without probes; without any, the session has no samples. */
struct sampled_version {
    unsigned in_code, samples;
    bool work_timed;
    uint64_t work_counted;
    uint64_t work_ends; /* zero: at 2 ms */
};

static void sampled_version_save(const struct sampled_version *v, const char *path)
{
    struct writer *w = writer_new();
    const uint64_t calls[][2] = { { WORK, v->work_counted } };
    write_process(w, 1, 70, "/bin/shop");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "one");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/shop");
    write_symbol_module(w, 1, "/no/shop");
    write_symbol(w, 1, 0, 0, MAIN, "main");
    write_symbol(w, 1, 0, 0, WORK, "work");
    write_symbol(w, 1, 0, 0, CODE, "code");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    if (v->work_timed) {
        write_enter(w, 1000000, WORK);
        write_exit(w, v->work_ends ? v->work_ends : 2000000);
    }
    write_exit(w, TAKES);
    end_events(w, true);
    if (v->work_counted)
        write_counts(w, 1, 1, 50, calls, 1);
    if (v->samples)
        begin_samples(w, 1, 1, 70, 71, 0);
    for (unsigned i = 0; i < v->samples; i++) {
        const uint64_t address = i < v->in_code ? CODE : MAIN;
        write_sample(
            w, &(struct written_sample){ .time = 3000000 + 10000 * i, .registers = &address, .register_count = 1 });
    }
    if (v->samples)
        end_samples(w, true);
    writer_save(w, path);
    writer_free(w);
}

static void diff_add_sampled(struct diff *d, enum diff_side side, const struct sampled_version *v)
{
    struct analysis analysis;
    sampled_version_save(v, test_path("version.dwell"));
    load_whole(&analysis, test_path("version.dwell"), 1);
    EXPECT_SUCCESS(diff_add(d, side, &analysis, &error));
    analysis_drop(&analysis);
}

static struct diff *diff_of_sampled(enum diff_by by, const struct sampled_version *before,
                                    const struct sampled_version *after, unsigned times)
{
    static const struct diff_options options = { .sort = DIFF_ELAPSED_EXCLUSIVE, .large.percent = 1 };
    struct diff *d = diff_new(by);
    for (unsigned i = 0; i < times; i++) {
        diff_add_sampled(d, DIFF_BEFORE, before);
        diff_add_sampled(d, DIFF_AFTER, after);
    }
    diff_judge(d, &options);
    return d;
}

static const struct diff_row *diff_row_named(const struct diff *d, const char *name)
{
    for (size_t i = 0; i < d->row_count; i++) {
        char *own = diff_row_name(d, &d->rows[i]);
        const bool found = strncmp(own, name, strlen(name)) == 0;
        free(own);
        if (found)
            return &d->rows[i];
    }
    cr_fatal("no row %s", name);
}

static bool diff_fails(const struct diff *d, const char *name, const char *condition)
{
    struct gate gate;
    EXPECT_SUCCESS(diff_gate_parse(&gate, condition, &error));
    return diff_gate_fails(&gate, d, diff_row_named(d, name));
}

/* 30 and 36 of 100 samples are within chance; 30 and 60 are not. */
Test(unit_diff_samples, changes_within_the_joint_interval_are_none)
{
    static const struct sampled_version less = { .in_code = 30, .samples = 100 },
                                        some = { .in_code = 36, .samples = 100 },
                                        more = { .in_code = 60, .samples = 100 };
    for (unsigned times = 1; times <= 2; times++) {
        struct diff *d = diff_of_sampled(DIFF_FUNCTIONS, &less, &some, times);
        const struct diff_pair *pair = &diff_row_named(d, "code")->values[DIFF_ELAPSED_EXCLUSIVE];
        cr_assert(eq(u64, pair->mean[DIFF_BEFORE], 3000000));
        cr_assert(eq(u64, pair->mean[DIFF_AFTER], 3600000));
        cr_assert(gt(dbl, diff_pair_error(pair), 600000));
        cr_assert(eq(int, pair->judged, JUDGED_NOTHING));
        cr_assert(not(diff_fails(d, "code", "elapsed_exclusive > +1%")));
        cr_assert(not(diff_fails(d, "code", "all_elapsed_exclusive > +1%")));
        cr_assert(not(diff_fails(d, "main", "all_elapsed_exclusive < -1%")));
        diff_free(d);
        d = diff_of_sampled(DIFF_FUNCTIONS, &less, &more, times);
        pair = &diff_row_named(d, "code")->values[DIFF_ELAPSED_EXCLUSIVE];
        cr_assert(eq(int, pair->judged, times == 1 ? JUDGED_LARGE : JUDGED_SIGNIFICANT));
        cr_assert(diff_fails(d, "code", "all_elapsed_exclusive > +1%"));
        cr_assert(eq(int, diff_fails(d, "code", "elapsed_exclusive > +1%"), times > 1)); /* one proves nothing */
        cr_assert(eq(int, diff_row_named(d, "main")->values[DIFF_ELAPSED_INCLUSIVE].judged, JUDGED_NOTHING));
        diff_free(d);
    }
}

/* The interval of one side counts if the other one was measured. */
Test(unit_diff_samples, estimated_and_measured_times)
{
    static const struct sampled_version timed = { .work_timed = true },
                                        sampled = { .in_code = 10, .samples = 100, .work_timed = true };
    struct diff *d = diff_of_sampled(DIFF_FUNCTIONS, &timed, &sampled, 1);
    const struct diff_row *main_row = diff_row_named(d, "main"), *code = diff_row_named(d, "code");
    cr_assert(eq(dbl, main_row->values[DIFF_ELAPSED_EXCLUSIVE].error[DIFF_BEFORE], 0));
    cr_assert(gt(dbl, main_row->values[DIFF_ELAPSED_EXCLUSIVE].error[DIFF_AFTER], 100000));
    cr_assert(eq(int, diff_row_named(d, "work")->values[DIFF_ELAPSED_EXCLUSIVE].judged, JUDGED_NOTHING));
    /* Before, the time of `code` was part of main's. */
    cr_assert(not(diff_row_knows(d, code, DIFF_ELAPSED_EXCLUSIVE)));
    cr_assert(not(diff_row_knows(d, code, DIFF_CALLS)));
    cr_assert(not(diff_fails(d, "code", "elapsed_exclusive > +1ns")));
    diff_free(d);
}

/* The times of all calls and of some cannot be compared; their numbers can. */
Test(unit_diff_samples, functions_that_were_timed_for_a_part_of_the_run)
{
    static const struct sampled_version timed = { .work_timed = true },
                                        partly = { .work_timed = true, .work_counted = 40 };
    struct diff *d = diff_of_sampled(DIFF_FUNCTIONS, &timed, &partly, 1);
    const struct diff_row *work = diff_row_named(d, "work");
    cr_assert(not(diff_row_knows(d, work, DIFF_ELAPSED_EXCLUSIVE)));
    cr_assert(diff_row_knows(d, work, DIFF_CALLS));
    cr_assert(eq(u64, work->values[DIFF_CALLS].mean[DIFF_AFTER], 41));
    diff_free(d);
}

/* With 3 of 100 samples, `code` takes 300 us more or less: not even a tenfold change is certain then. That of `work`,
 * which was measured, is a tenth of it, and comes first. */
Test(unit_diff_samples, changes_that_may_be_none_do_not_lead)
{
    static const struct sampled_version before = { .in_code = 1, .samples = 100, .work_timed = true }, after = {
        .in_code = 4, .samples = 100, .work_ends = 2030000, .work_timed = true
    };
    struct diff *d = diff_of_sampled(DIFF_FUNCTIONS, &before, &after, 1);
    const struct diff_pair *code = &diff_row_named(d, "code")->values[DIFF_ELAPSED_EXCLUSIVE];
    const struct diff_pair *work = &diff_row_named(d, "work")->values[DIFF_ELAPSED_EXCLUSIVE];
    cr_assert(gt(dbl, diff_pair_error(code), (double)(code->mean[DIFF_AFTER] - code->mean[DIFF_BEFORE])));
    cr_assert(eq(u64, work->mean[DIFF_AFTER] - work->mean[DIFF_BEFORE], 30000));
    cr_assert(gt(u64, code->mean[DIFF_AFTER] - code->mean[DIFF_BEFORE], 200000));
    char *first = diff_row_name(d, &d->rows[0]);
    cr_assert(eq(str, first, "work (shop)"));
    free(first);
    diff_free(d);
}

/* No sample of 100 us in a session may be chance if the function takes up to 300 us there: so 700 us, which may be 25
 * as well, are not certainly more. 1.2 ms are. */
Test(unit_diff_samples, no_sample_is_not_exactly_zero)
{
    static const struct sampled_version none = { .samples = 100 }, few = { .in_code = 7, .samples = 100 },
                                        more = { .in_code = 12, .samples = 100 };
    static const enum diff_by by[] = { DIFF_FUNCTIONS, DIFF_PATHS };
    static const char *const rows[] = { "code", "main;code" };
    for (size_t i = 0; i < 2; i++) {
        struct diff *d = diff_of_sampled(by[i], &none, &few, 1);
        const struct diff_pair *pair = &diff_row_named(d, rows[i])->values[DIFF_ELAPSED_EXCLUSIVE];
        cr_expect(eq(u64, pair->mean[DIFF_BEFORE], 0));
        cr_expect(eq(u64, pair->mean[DIFF_AFTER], 700000));
        cr_expect(epsilon_eq(dbl, pair->error[DIFF_BEFORE], 299570, 1));
        cr_expect(lt(dbl, pair->error[DIFF_AFTER], 700000));
        cr_expect(eq(int, pair->judged, JUDGED_NOTHING));
        cr_expect(not(diff_fails(d, rows[i], "all_elapsed_exclusive > +1ns")));
        diff_free(d);
        d = diff_of_sampled(by[i], &none, &more, 1);
        cr_expect(eq(int, diff_row_named(d, rows[i])->values[DIFF_ELAPSED_EXCLUSIVE].judged, JUDGED_LARGE));
        diff_free(d);
    }
}

Test(unit_diff_samples, call_paths)
{
    static const struct sampled_version less = { .in_code = 30, .samples = 100 },
                                        more = { .in_code = 60, .samples = 100 };
    struct diff *d = diff_of_sampled(DIFF_PATHS, &less, &more, 1);
    const struct diff_pair *pair = &diff_row_named(d, "main;code")->values[DIFF_ELAPSED_EXCLUSIVE];
    cr_assert(eq(u64, pair->mean[DIFF_BEFORE], 3000000));
    cr_assert(eq(int, pair->judged, JUDGED_LARGE));
    cr_assert(not(diff_row_knows(d, diff_row_named(d, "main;code"), DIFF_CALLS)));
    diff_free(d);
}
