/* The columns p50, p90 and p99 of recorded programs: against the times of all calls, which dwell slowest lists. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_percentiles, .timeout = 600);

static void expect_percentiles(const char *program, const char *options)
{
    free(run_well("DWELL_CLOCK=monotonic $DWELL record -q %s", program));
    char *compared = run_well(
        "{ $DWELL report %s --no-merge --format csv --columns calls,p50,p90,p99 >rows; "
        "sed 's/^/report /' rows; $DWELL report --no-merge --format json | python3 -c 'import json, sys\n"
        "for row in json.load(sys.stdin)[\"rows\"]: print(row[\"function\"])' | sort -u | while read -r name; do "
        "echo \"function $name\"; "
        "$DWELL slowest %s --no-merge -n 0 --format csv --columns elapsed_inclusive \"$name\" | "
        "sed 's/^/call /'; done; } | python3 -B " DWELL_CONSUMERS "/percentiles.py",
        options, options);
    cr_assert(gt(int, atoi(compared), 0), "%s %s: %s", program, options, compared);
    free(compared);
}

/* As measured, there are no costs to spread. */
Test(e2e_percentiles, of_threads_and_processes)
{
    expect_percentiles("$SAMPLES/threads 4 1000", "--raw");
    expect_percentiles("$SAMPLES/processes 3 100", "--raw");
    expect_percentiles("$SAMPLES/cplusplus", "--raw");
}

Test(e2e_percentiles, of_several_stacks)
{
    expect_percentiles("$PROGRAMS/stacks/stacks ucontext", "--raw");
}

Test(e2e_percentiles, without_probes)
{
    expect_percentiles("$SAMPLES/processes 3 100", "");
}

/* In a range of time, calls have their whole time. */
Test(e2e_percentiles, of_a_part)
{
    expect_percentiles("$SAMPLES/threads 2 500", "--raw --from 20us");
    expect_percentiles("$SAMPLES/threads 2 500", "--thread threads");
}

/* Rows of several sessions are those of their sums. */
Test(e2e_percentiles, of_several_sessions)
{
    /* Sessions are brought to nanoseconds one by one, sums at once: ticks of another length are rounded. */
    free(run_well("export DWELL_CLOCK=monotonic; for i in 1 2 3; do "
                  "$DWELL record -q --overhead none -o run-$i.data $SAMPLES/threads 2 100; "
                  "$DWELL profile run-$i.data -o sums-$i.data; done; $DWELL merge sums-*.data -o all.data"));
    static const char *const views[] = { "report", "tree", "callers work" };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char *out = run_well("$DWELL %s --format csv --columns calls,p50,p90,p99 run-*.data >rows; "
                             "$DWELL %s --format csv --columns calls,p50,p90,p99 all.data | cmp - rows && "
                             "grep -c ',[0-9]*,[0-9]*,[0-9]' rows",
                             views[i], views[i]);
        cr_assert(gt(int, atoi(out), 0), "%s: %s", views[i], out);
        free(out);
    }
}

/* The middle of a counter is not shown where no call is so short or so long. */
Test(e2e_percentiles, of_several_sessions_are_between_the_limits)
{
    char *out = run_well("for i in 1 2 3; do $DWELL record -q --overhead none -o run-$i.data $SAMPLES/threads 2 100 "
                         ">calls; done; $DWELL report --format json --columns min,p50,p90,p99,max run-*.data | "
                         "jq -c '[.rows[] | [.min_ns, .p50_ns, .p90_ns, .p99_ns, .max_ns] | select(. != sort)]'");
    cr_assert(eq(str, out, "[]\n"), "%s", out);
    free(out);
}

/* Without single calls there are no percentiles, and remarks say so. */
Test(e2e_percentiles, of_sums_and_counted_calls)
{
    free(run_well("$DWELL record -q --mode profile -o sums $SAMPLES/threads 2 100 && "
                  "$DWELL record -q --level=counted=work -o counted $SAMPLES/threads 2 100"));
    char *out = run_well("$DWELL report --format csv --columns p50 sums | tr -d '\\r' | grep '[0-9]$' || "
                         "$DWELL report --format json --columns p50 sums | grep -c percentiles-need-calls");
    cr_assert(eq(str, out, "1\n"));
    free(out);
    out = run_well("$DWELL report --format csv --columns p50 counted | tr -d '\\r' | grep '^work,.*,$' | cut -d, -f1; "
                   "$DWELL report --format json --columns p50 counted | grep -c percentiles-of-timed");
    cr_assert(eq(str, out, "work\n1\n"), "%s", out);
    free(out);
    out =
        run_well("$DWELL report --format json --columns p99 sums counted | jq -r '.remarks[].text' | grep percentiles");
    cr_assert(eq(str, out,
                 "sums: percentiles are unknown in mode profile without record --histogram\n"
                 "counted: percentiles are those of the timed calls: how long counted ones took is unknown\n"));
    free(out);
    struct ran r = run("$DWELL report --by module --columns p99 counted");
    cr_assert(eq(int, r.status, 2));
    ran_drop(&r);
}
