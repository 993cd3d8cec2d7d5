/* Mode profile with --histogram: all calls of the chosen functions are counted, and their percentiles are those that
 * the program itself has measured. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/durations.h"
#include "support/load.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_histograms, .timeout = 300);

static const char *histograms_name(const struct analysis *analysis, size_t node)
{
    const uint32_t function = analysis->profile->nodes[node].function;
    return function == PROFILE_NONE ? "" : analysis->names[function].name;
}

/* How many calls of the function the paths of the session have, each of which must have been counted; or that none
 * was. */
static uint64_t histograms_calls(const char *session, const char *function, bool counted)
{
    struct analysis analysis;
    uint64_t calls = 0;
    load_with(&analysis, test_path(session),
              &(struct analysis_options){ .durations = true, .raw = true, .no_merge = true });
    for (size_t i = 0; i < analysis.profile->node_count; i++) {
        const struct profile_node *node = &analysis.profile->nodes[i];
        if (strcmp(histograms_name(&analysis, i), function) != 0)
            continue;
        calls += node->calls;
        cr_assert(eq(u64, durations_calls(node->durations), counted ? node->calls : 0), "%s", function);
    }
    analysis_drop(&analysis);
    return calls;
}

Test(e2e_histograms, count_all_calls_of_the_chosen_functions)
{
    static const char *const options[] = { "",
                                           "--call-sites",
                                           "--os-events none",
                                           "--os-events rseq",
                                           "--sample 1000",
                                           "--overhead none --suppress through",
                                           "--overhead 1%" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        free(run_well("$DWELL record -q --mode profile %s --histogram 'w*k' --histogram recursive "
                      "$PROGRAMS/timed_calls 3 400",
                      options[i]));
        cr_assert(eq(u64, histograms_calls("dwell.data", "work", true), 1200), "%s", options[i]);
        cr_assert(eq(u64, histograms_calls("dwell.data", "recursive", true), 6000), "%s", options[i]);
        histograms_calls("dwell.data", "run", false);
    }
    free(
        run_well("DWELL_CLOCK=monotonic $DWELL record -q --mode profile --histogram work $PROGRAMS/timed_calls 2 300"));
    cr_assert(eq(u64, histograms_calls("dwell.data", "work", true), 600));
}

/* What was counted when the process is killed is in the file. */
Test(e2e_histograms, survive_a_kill)
{
    free(run("$DWELL record -q --mode profile --histogram work $PROGRAMS/timed_calls 3 400 kill").out);
    cr_assert(eq(u64, histograms_calls("dwell.data", "work", true), 1200));
}

/* Signal handlers run counted functions, wherever they interrupt them or the counting: all calls are counted, as the
 * program counts them. */
Test(e2e_histograms, of_signal_handlers)
{
    static const char *const cases[] = { "nested", "alternate", "above" };
    static const char *const functions[] = { "work", "leaf", "handler", "handler_leaf" };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *own =
            run_well("$DWELL record -q --mode profile --histogram '*' $PROGRAMS/signals/signals-O2 %s 60000", cases[i]);
        for (size_t j = 0; j < sizeof functions / sizeof *functions; j++) {
            char *line = need_text("calls %s ", functions[j]);
            const char *found = strstr(own, line);
            if (found)
                cr_assert(eq(u64, histograms_calls("dwell.data", functions[j], true),
                             strtoull(found + strlen(line), NULL, 10)),
                          "%s %s", cases[i], own);
            free(line);
        }
        free(own);
    }
}

Test(e2e_histograms, of_forked_processes)
{
    free(run_well("$DWELL record -q --mode profile --histogram '*' $SAMPLES/processes 3 100"));
    char *counts =
        run_well("$DWELL report --format csv --columns calls | tr -d '\\r' | grep ^child_work | cut -d, -f5");
    cr_assert(eq(str, counts, "300\n"));
    cr_assert(eq(u64, histograms_calls("dwell.data", "child_work", true), 300));
    cr_assert(eq(u64, histograms_calls("dwell.data", "main", true), 1));
    free(counts);
}

/* Fails if a percentile is not between the program's own that are next to it: a thread may lose the processor in a call
 * where the program does not measure. `part`: how much the bounds may be off. */
static void histograms_compare(const char *program, const char *options, const char *session, double part)
{
    double own_calls, low[3], high[3], calls, shown[3];
    char *row = run_well("$DWELL report %s --format csv --columns calls,p50,p90,p99 %s | tr -d '\\r' | "
                         "grep '^work,' | cut -d, -f5- | tr , ' '",
                         options, session);
    cr_assert(eq(int,
                 sscanf(program, "%lf %lf %lf %lf %lf %lf %lf", &own_calls, &low[0], &high[0], &low[1], &high[1],
                        &low[2], &high[2]),
                 7));
    cr_assert(eq(int, sscanf(row, "%lf %lf %lf %lf", &calls, &shown[0], &shown[1], &shown[2]), 4), "%s", row);
    cr_assert(eq(dbl, calls, own_calls));
    for (size_t i = 0; i < 3; i++) {
        cr_assert(ge(dbl, shown[i], low[i] * (1 - part)), "%s %s beside %s", options, row, program);
        cr_assert(le(dbl, shown[i], high[i] * (1 + part)), "%s %s beside %s", options, row, program);
    }
    free(row);
}

/* The program measures within the probes. Its shortest calls take 20 us, of which a probe is a hundredth at most. */
Test(e2e_histograms, have_the_percentiles_that_the_program_measures)
{
    char *own = run_well("$DWELL record -q --mode profile --histogram work $PROGRAMS/timed_calls 2 3000");
    histograms_compare(own, "--raw", "dwell.data", 0.03);
    histograms_compare(own, "", "dwell.data", 0.04);
    free(run_well("$DWELL profile dwell.data -o sums.data"));
    histograms_compare(own, "--raw", "sums.data", 0.03);
    histograms_compare(own, "", "sums.data", 0.04);
    free(own);
    char *rows = run_well("for view in report tree 'callers work'; do $DWELL $view --columns calls,p99; done | "
                          "grep -c '~[0-9.]* .*work'");
    cr_assert(ge(int, atoi(rows), 3), "%s", rows);
    free(rows);
    rows = run_well("$DWELL report --format csv --columns p99 | tr -d '\\r' | grep '^run,' | cut -d, -f5");
    cr_assert(eq(str, rows, "\n"));
    free(rows);
}

/* Sums of several sessions have the counters of all. */
Test(e2e_histograms, add_up_in_sums)
{
    free(run_well("for i in 1 2 3; do $DWELL record -q --mode profile --histogram work -o run-$i.data "
                  "$PROGRAMS/timed_calls 2 200; $DWELL profile run-$i.data -o sums-$i.data; done; "
                  "$DWELL merge sums-*.data -o all.data; $DWELL merge sums-3.data sums-1.data -o part.data; "
                  "$DWELL merge part.data sums-2.data -o again.data; cmp all.data again.data"));
    cr_assert(eq(u64, histograms_calls("all.data", "work", true), 1200));
    static const char *const options[] = { "--raw", "" };
    for (size_t i = 0; i < 2; i++)
        free(run_well("$DWELL report %s --format csv --columns calls,p50,p90,p99 run-*.data | grep ^work >rows; "
                      "$DWELL report %s --format csv --columns calls,p50,p90,p99 all.data | grep ^work | "
                      "cmp - rows && grep ',[0-9]*,[0-9]*,[0-9]' rows",
                      options[i], options[i]));
    char *out = run_well(
        "$DWELL diff --format csv --columns p99_before,p99_after,p99_change --sort p99 run-1.data run-2.data | "
        "tr -d '\\r' | grep -c ',work,timed_calls,[0-9][0-9]*,[0-9][0-9]*,'");
    cr_assert(eq(str, out, "1\n"));
    free(out);
}

/* With a session that has its durations without probes: each is shown where it can be. */
Test(e2e_histograms, beside_a_trace)
{
    free(run_well("$DWELL record -q --mode profile --histogram work -o profile.data $PROGRAMS/timed_calls 1 200; "
                  "$DWELL record -q --overhead none -o trace.data $PROGRAMS/timed_calls 1 200; "
                  "$DWELL profile profile.data -o a.data; $DWELL profile trace.data -o b.data; "
                  "$DWELL merge a.data b.data -o both.data"));
    char *codes = run_well("for raw in '' --raw; do $DWELL report $raw --format json --columns calls,p99 both.data | "
                           "jq -r '.remarks[].code' | grep ^percentiles | sort | tr '\\n' ' '; echo; done");
    cr_assert(eq(str, codes, "percentiles-of-chosen \npercentiles-of-chosen percentiles-of-some \n"));
    free(codes);
    char *runs =
        run_well("$DWELL report --format csv --columns p99 both.data | grep -c '^run,.*,[0-9][0-9]*.$'; "
                 "$DWELL report --raw --format csv --columns p99 both.data | grep -c '^work,.*,[0-9][0-9]*.$'; "
                 "$DWELL report --raw --format csv --columns p99 both.data | grep -c '^run,.*,[0-9][0-9]*.$' || true");
    cr_assert(eq(str, runs, "1\n1\n0\n"));
    free(runs);
}

Test(e2e_histograms, are_for_mode_profile)
{
    struct ran r = run("$DWELL record --histogram work $PROGRAMS/timed_calls 1 1");
    cr_assert(
        eq(str, r.err, "dwell: --histogram is for --mode profile; modes trace and ring have percentiles without it\n"));
    cr_assert(eq(int, r.status, 125));
    ran_drop(&r);
    r = run("$DWELL record -q --mode profile --histogram wrok $PROGRAMS/timed_calls 1 1");
    cr_assert(strstr(r.err, "--histogram: pattern 'wrok' matched no instrumented function") != NULL, "%s", r.err);
    ran_drop(&r);
}
