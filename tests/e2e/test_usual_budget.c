/* The budget of a recording without --overhead: what it is, when there is none, and what small programs see of it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "support/run.h"

static void usual_budget_begin(void)
{
    setenv("DWELL_OS_CALLS", "off", 1);
    unsetenv("DWELL_OVERHEAD");
}

TestSuite(e2e_usual_budget, .timeout = 600, .init = usual_budget_begin);

static const char *const modes[] = { "trace", "profile", "ring=1G" };

#define SMALL "$PROGRAMS/levels/phases 4 24000"
enum { SMALL_EVENTS = 2 * 4 * (24000 + 24000 + 24000 / 50 + 1) };

/* The line of dwell info about the budget. The caller frees it. */
static char *usual_budget_line(const char *options)
{
    free(run_well("$DWELL record -q %s $SAMPLES/fib 5", options));
    return run_well("$DWELL info | grep '^budget '; true");
}

Test(e2e_usual_budget, none_times_all_calls)
{
    static const char *const ways[] = { "$DWELL record --overhead none", "DWELL_OVERHEAD=none $DWELL record",
                                        "DWELL_OVERHEAD=10% $DWELL record --overhead none" };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *out = run_well("%s -q $PROGRAMS/levels/phases 2 400000", ways[i]);
        struct report *r = report_of("");
        check_counts(out, r, 8);
        cr_assert(eq(u64, report_session(r, "events"), 2 * 2 * (400000 + 400000 + 8000 + 1)), "%s", ways[i]);
        char *info = run_well("$DWELL info");
        cr_assert(not(has(info, "\nbudget ")), "%s", info);
        cr_assert(not(has(info, "\nsamples ")), "%s", info);
        free(info);
        report_drop(r);
        free(out);
    }
}

/* Whether the report and `dwell info` say what was asked and reached. */
static void usual_budget_says(const char *asked)
{
    char *info = run_well("$DWELL info | grep -cE '^budget +overhead %s %% asked, (over )?[0-9.]+ %% reached$|"
                          "^recording +added (over )?[0-9.]+ %% to the .* \\(%s %% asked\\): [0-9.]+ [mu]?s, '",
                          asked, asked),
         *report = run_well("$DWELL report | grep -cE '^recording added (over )?[0-9.]+ %% to the (CPU|elapsed) time "
                            "\\(%s %% asked\\); elapsed '",
                            asked);
    cr_assert(eq(int, atoi(info), 2));
    cr_assert(eq(int, atoi(report), 1));
    free(report);
    free(info);
}

Test(e2e_usual_budget, hot_functions_are_counted)
{
    for (int i = 0; i < 3; i++) {
        char *out = run_well("$DWELL record -q --mode %s $PROGRAMS/levels/counted 2 3000000 0", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 4);
        cr_assert(lt(u64, report_session(r, "events"), 2 * 24375000), "%s", modes[i]);
        report_drop(r);
        usual_budget_says("10");
        free(out);
    }
    free(run_well("DWELL_OVERHEAD=5 $DWELL record -q --overhead 12.5%% $PROGRAMS/levels/counted 2 3000000 0"));
    usual_budget_says("12.5");
}

/* What a user sees of a small program does not depend on the budget. */
Test(e2e_usual_budget, small_programs_have_no_trace_of_it)
{
    for (int i = 0; i < 3; i++) {
        struct ran with = run("$DWELL record --mode %s " SMALL, modes[i]);
        cr_assert(eq(int, with.status, 0));
        cr_assert(not(has(with.err, "samples")), "%s", with.err);
        struct report *r = report_of("");
        check_counts(with.out, r, 16);
        cr_assert(eq(u64, report_session(r, "events"), SMALL_EVENTS), "%s", modes[i]);
        report_drop(r);
        char *info = run_well("$DWELL info | grep '^budget '");
        cr_assert(has(info, " reached; no function was changed (the first 250,000 calls of a program are timed)\n"),
                  "%s", info);
        free(info);
        char *columns = run_well("$DWELL report --by function --format csv | head -1"),
             *report = run_well("$DWELL report");
        cr_assert(not(has(report, " asked")), "%s", report);
        cr_assert(not(has(report, " sample")), "%s", report);
        free(run_well("$DWELL record -q --overhead none --mode %s " SMALL, modes[i]));
        char *usual = run_well("$DWELL report --by function --format csv | head -1");
        cr_assert(eq(str, columns, usual), "%s", modes[i]);
        free(usual);
        free(report);
        free(columns);
        ran_drop(&with);
    }
}

/* Samples that only the budget asked for are discarded when all calls were timed. */
Test(e2e_usual_budget, spare_samples)
{
    free(run_well("$DWELL record -q $SAMPLES/sleeper"));
    char *info = run_well("$DWELL info | grep '^samples '");
    cr_assert(has(info, " none kept, as all calls were timed; taken "), "%s", info);
    free(info);
    free(run_well("$DWELL record -q --sample 1000 $SAMPLES/sleeper"));
    info = run_well("$DWELL info | grep '^samples '");
    cr_assert(has(info, " of recorded threads, 1000 a second of CPU time"), "%s", info);
    free(info);
}

/* It is said once, where it matters. */
Test(e2e_usual_budget, where_samples_are_refused)
{
    char refuse[100];
    snprintf(refuse, sizeof refuse, "$PROGRAMS/scarcity/refuse %d 1 $DWELL record", (int)SYS_perf_event_open);
    struct ran r = run("%s $SAMPLES/fib 10", refuse);
    cr_assert(eq(int, r.status, 0));
    cr_assert(not(has(r.err, "sample")), "%s", r.err);
    ran_drop(&r);
    r = run("%s -q $PROGRAMS/levels/phases 1 12000000", refuse);
    cr_assert(eq(int, r.status, 0));
    cr_assert(
        eq(str, r.err,
           "dwell: recorded without samples, which the system refused: Operation not permitted; see dwell doctor. "
           "So counted functions have no times; --overhead none times all calls\n"));
    struct report *report = report_of("");
    check_counts(r.out, report, 4);
    report_drop(report);
    ran_drop(&r);
}

/* A default yields to options that a budget would change; the option does not. */
Test(e2e_usual_budget, yields_to_other_options)
{
    static const char *const options[] = { "--sample 0",      "--call-sites",    "--depth 3",
                                           "--depth fib=3",   "--min 1ns",       "--min fib=1ns",
                                           "--root fib",      "--start-on main", "--start-on main --stop-on nothing",
                                           "--callers-of fib" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char with[100];
        char *line = usual_budget_line(options[i]);
        cr_assert(eq(str, line, ""), "%s: %s", options[i], line);
        free(line);
        snprintf(with, sizeof with, "--overhead 20%% %s", options[i]);
        line = usual_budget_line(with);
        cr_assert(has(line, "overhead 20 % asked"), "%s: %s", with, line);
        free(line);
    }
}

Test(e2e_usual_budget, stays_with_others)
{
    static const char *const options[] = {
        "--only '*'",  "--suppress main", "--level timed=fib",        "--level out=main",
        "--no-follow", "--max-size 1G",   "--mode profile --sample 0"
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char *line = usual_budget_line(options[i]);
        cr_assert(has(line, "overhead 10 % asked"), "%s: %s", options[i], line);
        free(line);
    }
}

/* The budget leaves functions alone whose level is given. */
Test(e2e_usual_budget, given_levels_stay)
{
    for (int i = 0; i < 2; i++) {
        char *out = run_well("$DWELL record -q --mode %s --level timed=hot_leaf --level 'out=hot_[ij]*' "
                             "$PROGRAMS/levels/counted 2 3000000 0",
                             modes[i]);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "hot_leaf", "calls"), truth(out, "hot_leaf")));
        cr_assert(eq(u64, report_sum(r, "function", "timed", "calls"), truth(out, "timed")));
        cr_assert(eq(u64, report_sum(r, "function", "hot_inlined", "calls"), 0));
        cr_assert(eq(u64, report_sum(r, "function", "hot_jump", "calls"), 0));
        report_drop(r);
        char *counted = run_well("$DWELL report --by function --format csv --filter 'timing!=timed' | cut -d, -f1");
        cr_assert(not(has(counted, "hot_leaf")), "%s: %s", modes[i], counted);
        free(counted);
        char *info = run_well("$DWELL info | grep -cE '^level +counted .*: hot_(leaf|inlined|jump)$'; true");
        cr_assert(eq(str, info, "0\n"), "%s: %s", modes[i], info);
        free(info);
        free(out);
    }
}

/* A program that reads its own code finds other calls there, unless it is to be left alone. */
Test(e2e_usual_budget, code_that_the_program_reads)
{
    static const char *const ways[][2] = { { "--overhead none", "same\n" },
                                           { "--level 'timed=module:own_text'", "same\n" },
                                           { "--mode profile --overhead none", "same\n" } };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *out = run_well("$DWELL record -q %s $PROGRAMS/levels/own_text", ways[i][0]);
        cr_assert(eq(str, out, (char *)ways[i][1]), "%s", ways[i][0]);
        free(out);
    }
    char *out = run_well("$DWELL record -q $PROGRAMS/levels/own_text wait");
    cr_assert(eq(str, out, "changed\n"));
    free(out);
}

Test(e2e_usual_budget, wrong_variable)
{
    struct ran r = run("DWELL_OVERHEAD=much $DWELL record true");
    cr_assert(eq(int, r.status, 125));
    cr_assert(has(r.err, "DWELL_OVERHEAD: 'much' is not a percentage from 1 to 1000"), "%s", r.err);
    ran_drop(&r);
}

/* ---- views of small programs ---- */

/* What views say of the last session, without times. The caller frees it. */
static char *usual_budget_views(void)
{
    return run_well(
        "exec 2>&1; for by in function module; do $DWELL report --by $by --format csv --columns calls,timing | sort; done; "
        "$DWELL tree --min 0 --format csv | cut -d, -f1,3-5 | sort; "
        "$DWELL callers --format csv --columns calls leaf_1 | cut -d, -f1-3,5 | sort; "
        "$DWELL report --by function | grep -c ' [~>]'; "
        "$DWELL info | grep -E '^(events|call paths|level|counted) '; "
        "for e in collapsed callgrind speedscope; do echo $e; "
        "$DWELL export -o $e.out $e; rm -r $e.out; done");
}

/* What only sessions with single calls have. The caller frees it. */
static char *usual_budget_single_calls(void)
{
    return run_well("exec 2>&1; $DWELL replay -n 300000 | grep -oE '[a-z]+_[1-4]\\(\\)' | cksum; "
                    "$DWELL histogram loop_2 | grep -o '^loop_2: [0-9]* completed calls'; "
                    "$DWELL slowest -n 0 --format csv outer_3 | wc -l; "
                    "$DWELL export -o out chrome; grep -oE '\"[a-z]+_[1-4]\"' out | sort | uniq -c; "
                    "$DWELL export -o out callgrind; grep -E '^calls=' out | sort");
}

Test(e2e_usual_budget, views_of_small_programs)
{
    for (int i = 0; i < 3; i++) {
        char *texts[2][2];
        for (int j = 0; j < 2; j++) {
            free(run_well("$DWELL record -q %s --mode %s " SMALL, j ? "" : "--overhead none", modes[i]));
            texts[j][0] = usual_budget_views();
            texts[j][1] = strcmp(modes[i], "profile") == 0 ? calloc(1, 1) : usual_budget_single_calls();
        }
        for (int k = 0; k < 2; k++) {
            cr_assert(eq(str, texts[1][k], texts[0][k]), "%s", modes[i]);
            free(texts[0][k]);
            free(texts[1][k]);
        }
    }
}
