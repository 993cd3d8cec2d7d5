/* Comparisons and merges of sessions whose functions had different levels: all calls timed, a budget, counted ones. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/features.h"
#include "support/run.h"

TestSuite(e2e_mixed_levels, .timeout = 600, .init = without_os_calls);

#define GATES "--fail-if 'calls > +0' --fail-if 'calls < -0'"

/* Compares, and returns what it says. The caller frees it. */
static char *mixed_levels_diff(const char *arguments, int status, const char *message)
{
    struct ran r = run("$DWELL diff %s", arguments);
    cr_assert(eq(int, r.status, status), "dwell diff %s: %s", arguments, r.err);
    cr_assert(eq(str, r.err, (char *)message), "dwell diff %s", arguments);
    free(r.err);
    return r.out;
}

static void mixed_levels_equal(const char *sessions, const char *by, const char *remark)
{
    char arguments[200];
    snprintf(arguments, sizeof arguments, "--by %s " GATES " %s", by, sessions);
    char *text = mixed_levels_diff(arguments, 0, "");
    cr_assert(has(text, remark), "%s: %s", arguments, text);
    free(text);
}

/* Phase, outer, and below it leaf and loop. */
static void mixed_levels_record(void)
{
    free(run_well("$DWELL record -q -o all $PROGRAMS/levels/phases 2 20000; "
                  "$DWELL record -q -o more $PROGRAMS/levels/phases 2 20050; "
                  "$DWELL record -q --level 'counted=outer_*' --sample 0 -o outer $PROGRAMS/levels/phases 2 20000; "
                  "$DWELL record -q --level 'counted=leaf_*' --sample 0 -o leaf $PROGRAMS/levels/phases 2 20000"));
}

#define COUNTED(session) session ": calls of 2 functions were only counted (dwell info lists them): "
#define NO_PATHS "their calls, and those below them, have no call paths to compare"
#define NO_RANGE "it is unknown which were in the selected range of time, so they are not compared"

Test(e2e_mixed_levels, calls_are_compared_by_function)
{
    mixed_levels_record();
    mixed_levels_equal("all outer", "function", COUNTED("outer") "their time is in the times of their callers\n");
    mixed_levels_equal("leaf outer", "module", COUNTED("leaf") "their time is in the times of their callers\n");
    free(mixed_levels_diff("--sort name outer more --fail-if 'calls > +0'", 1,
                           "dwell: --fail-if 'calls > +0': 6 functions\n"
                           "  leaf_1 (phases): 20000 -> 20050 (+0.25 %)\n"
                           "  leaf_2 (phases): 20000 -> 20050 (+0.25 %)\n"
                           "  loop_1 (phases): 20000 -> 20050 (+0.25 %)\n"
                           "  loop_2 (phases): 20000 -> 20050 (+0.25 %)\n"
                           "  outer_1 (phases): 400 -> 401 (+0.25 %)\n"
                           "  outer_2 (phases): 400 -> 401 (+0.25 %)\n"));
    free(mixed_levels_diff("all outer --only 'outer_*' --fail-if 'all_elapsed_exclusive > +0ns' --fail-if "
                           "'all_elapsed_exclusive < -0ns'",
                           0, ""));
}

/* A path with a counted function lacks calls, and that without it has some more. */
Test(e2e_mixed_levels, calls_are_compared_by_path)
{
    static const char wanted[] = "phase_1,1,1\nphase_1;leaf_1,,\nphase_1;loop_1,,\nphase_1;outer_1,,\n"
                                 "phase_1;outer_1;leaf_1,,\nphase_1;outer_1;loop_1,,\n";
    mixed_levels_record();
    mixed_levels_equal("all outer", "path", COUNTED("outer") NO_PATHS);
    mixed_levels_equal("leaf all", "path", COUNTED("leaf") NO_PATHS);
    char *rows = run_well("$DWELL diff --by path --format csv all outer | cut -d, -f4,6,7 | grep _1 | LC_ALL=C sort");
    cr_assert(eq(str, rows, (char *)wanted));
    free(rows);
    rows = run_well("$DWELL diff --by path --format csv leaf all | cut -d, -f4,6,7 | grep _1 | LC_ALL=C sort");
    cr_assert(
        eq(str, rows,
           "phase_1,1,1\nphase_1;outer_1,400,400\nphase_1;outer_1;leaf_1,,\nphase_1;outer_1;loop_1,20000,20000\n"));
    free(rows);
}

/* It is unknown when the calls were made. */
Test(e2e_mixed_levels, ranges_of_time)
{
    mixed_levels_record();
    mixed_levels_equal("--to 1000s all leaf", "function", COUNTED("leaf") NO_RANGE);
    mixed_levels_equal("--to 1000s all leaf", "module", COUNTED("leaf") NO_RANGE);
    mixed_levels_equal("--to 1000s all leaf", "path", COUNTED("leaf") NO_RANGE);
    free(mixed_levels_diff("--sort name --to 1000s leaf more --fail-if 'calls > +0'", 1,
                           "dwell: --fail-if 'calls > +0': 4 functions\n"
                           "  loop_1 (phases): 20000 -> 20050 (+0.25 %)\n"
                           "  loop_2 (phases): 20000 -> 20050 (+0.25 %)\n"
                           "  outer_1 (phases): 400 -> 401 (+0.25 %)\n"
                           "  outer_2 (phases): 400 -> 401 (+0.25 %)\n"));
}

/* With the budget that recordings have by default, with all calls timed, and with counted functions. */
Test(e2e_mixed_levels, budget_and_others)
{
    free(run_well("unset DWELL_OVERHEAD; $DWELL record -q -o budget $PROGRAMS/levels/counted 2 3000000 0"));
    free(run_well("$DWELL record -q --mode profile -o all $PROGRAMS/levels/counted 2 3000000 0"));
    free(run_well("$DWELL record -q --level 'counted=hot_*' -o counted $PROGRAMS/levels/counted 2 3000000 0"));
    mixed_levels_equal("all budget", "function", "budget: calls of ");
    mixed_levels_equal("budget counted", "function", "counted: calls of 4 functions were only counted");
    mixed_levels_equal("all budget", "path", NO_PATHS);
    mixed_levels_equal("budget budget -- counted all", "module", "were only counted (dwell info lists them): ");
}

/* The calls of a merge are those of its sessions, and so are the marks of what was counted. */
static void mixed_levels_merge(const char *mode)
{
    const char *const program = "$PROGRAMS/levels/counted 2";
    char *all = run_well("$DWELL record -q --mode %s -o all %s 20000 0", mode, program);
    char *budget = run_well("unset DWELL_OVERHEAD; $DWELL record -q --mode %s -o budget %s 3000000 0", mode, program);
    char *counted = run_well("$DWELL record -q --mode %s --level 'counted=hot_*' -o counted %s 20000 0", mode, program);
    free(run_well("$DWELL merge all budget counted -o merged"));
    struct report *merged = report_of("merged"), *apart = report_of("all budget counted");
    static const char *const functions[] = { "hot_leaf", "hot_inlined", "hot_jump", "hot_late", "timed" };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const uint64_t calls = truth(all, functions[i]) + truth(budget, functions[i]) + truth(counted, functions[i]);
        cr_assert(eq(u64, report_sum(merged, "function", functions[i], "calls"), calls), "%s", mode);
        cr_assert(eq(u64, report_sum(apart, "function", functions[i], "calls"), calls), "%s", mode);
    }
    check_sums(merged, "function");
    report_drop(merged);
    report_drop(apart);
    char *text = run_well("$DWELL report merged");
    cr_assert(has(text, " functions only counted: "), "%s", text);
    free(text);
    free(counted);
    free(budget);
    free(all);
}

Test(e2e_mixed_levels, merged)
{
    mixed_levels_merge("trace");
    mixed_levels_merge("profile");
}

/* ---- views of single calls ---- */

static void mixed_levels_says(const char *command, int status, const char *message)
{
    struct ran r = run("rm -rf out; $DWELL %s", command);
    cr_assert(eq(int, r.status, status), "%s: %s", command, r.err);
    cr_assert(has(status ? r.err : strcmp(r.err, "") ? r.err : r.out, message), "%s: %s%s", command, r.out, r.err);
    ran_drop(&r);
}

Test(e2e_mixed_levels, single_calls_say_how_to_time_them)
{
    need_features("perflog");
    static const char *const of_function[] = { "histogram leaf leaf_1",  "slowest leaf leaf_1",
                                               "whatif leaf leaf_1=0.5", "critical --call leaf_1 leaf",
                                               "why leaf leaf_1",        "values leaf leaf_1",
                                               "scaling leaf leaf_1" };
    static const char *const of_all[] = { "replay leaf",
                                          "export -o out chrome leaf",
                                          "export -o out perfetto leaf",
                                          "export -o out ctf leaf",
                                          "export -o out firefox leaf",
                                          "export -o out perflog leaf" };
    mixed_levels_record();
    for (size_t i = 0; i < sizeof of_function / sizeof *of_function; i++)
        mixed_levels_says(of_function[i], 2,
                          "calls of leaf_1 were only counted: they have no times. To time them, record with --level "
                          "'timed=leaf_1'\n");
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        mixed_levels_says(of_all[i], 0, "To time those of F, record with --level timed=F\n");
    mixed_levels_says("annotate leaf leaf_1", 0,
                      ": 20000 calls, only counted, so their times are unknown; record with --level 'timed=leaf_1' to "
                      "time them\n");
    mixed_levels_says("annotate leaf loop_1", 0, ": 20000 calls, elapsed ");
}

/* Calls that are not timed are in no range of time. `work` is a part of another function's name, which is not meant. */
Test(e2e_mixed_levels, no_other_function_answers_in_a_range)
{
    static const char *const levels[] = { "counted", "out" };
    static const char *const views[] = { "why", "slowest", "histogram", "callers", "values", "scaling" };
    free(run_well("printf 'static volatile int x;\\n__attribute__((noinline)) static void work(void) { x++; }\\n"
                  "__attribute__((noinline)) static void worker(int n) { for (int i = 0; i < n; i++) work(); }\\n"
                  "int main(void) { for (int i = 0; i < 300; i++) worker(i); return 0; }\\n' >made.c && "
                  "$DWELL cc -O1 -g -o made made.c"));
    for (size_t i = 0; i < 2; i++) {
        free(run_well("$DWELL record -q --level %s=work ./made", levels[i]));
        for (size_t j = 0; j < sizeof views / sizeof *views; j++) {
            char *command = need_text("%s work --from 1us", views[j]);
            mixed_levels_says(command, 2,
                              "dwell.data, from 1 us: no call of work was timed there. To time them all, record with "
                              "--level 'timed=work'\n");
            free(command);
        }
        char *rows = run_well("$DWELL callers wor --from 1us --format csv | tr -d '\\r' | grep -c 'worker'");
        cr_assert(ge(int, atoi(rows), 1), "%s", rows);
        free(rows);
    }
}
