/* Windows of all processes: `dwell record --keep-others`. Another process holds the lock that each slow call waits for,
 * and its ring is used again many times before the next one. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/run.h"

TestSuite(e2e_keep_others, .timeout = 600);

#define RECORD "$DWELL record -q --keep 'handle>100ms' --keep-around 1ms --mode ring=64K "

/* Who held the lock, by call, and how many calls of hold are there. */
#define HOLDERS                                                                                                        \
    "jq -c '[([.rows[] | select(.function == \"handle\" and .cause == \"holder\")] | "                                 \
    "group_by(.cause_function) | map({(.[0].cause_function): (map(.waits) | add)}) | add), "                           \
    "(.rows | map(select(.function == \"hold\" and .object.kind == \"sleep\").waits) | add // 0)]'"

static void others_expect(const char *options, const char *expected)
{
    free(run_well(RECORD "%s $PROGRAMS/kept_others 5 300000", options));
    char *text = run_well("$DWELL waits --format json | " HOLDERS);
    cr_assert(eq(str, text, (char *)expected), "%s", options);
    free(text);
}

Test(e2e_keep_others, windows_have_the_processes_that_calls_wait_for)
{
    others_expect("", "[{\"(outside functions)\":5},0]\n");
    others_expect("--keep-others", "[{\"hold\":5},5]\n");
}

/* The other process has few events but for those in windows. */
Test(e2e_keep_others, nothing_else_is_kept)
{
    free(run_well(RECORD "--keep-others $PROGRAMS/kept_others 5 3000000"));
    char *text = run_well("$DWELL info --format json | jq -c '[.keep.slow_calls, .session.enters < 3000000]'");
    cr_assert(eq(str, text, "[5,true]\n"));
    free(text);
}

Test(e2e_keep_others, are_said)
{
    free(run_well(RECORD "--keep-others $PROGRAMS/kept_others 1 1; mv dwell.data with.data; " RECORD
                         "$PROGRAMS/kept_others 1 1"));
    char *text =
        run_well("for file in with.data dwell.data; do $DWELL info $file | grep '^keep  *windows' | tr -s ' '; "
                 "$DWELL info --format json $file | jq .keep.all_processes; done");
    cr_assert(eq(str, text,
                 "keep windows of slow calls, of all processes, with 1.000 ms before and after\ntrue\n"
                 "keep windows of slow calls, with 1.000 ms before and after\nfalse\n"));
    free(text);
}

Test(e2e_keep_others, commands_have_them)
{
    free(run_well(RECORD "--keep-others --on-keep 'mv {} window-$$' $PROGRAMS/kept_others 2 300000"));
    char *text =
        run_well("for file in window-*; do $DWELL waits --format json $file | " HOLDERS " | grep -c '\"hold\":'; done");
    cr_assert(eq(str, text, "1\n1\n"));
    free(text);
}

/* More windows than the list of them has. Whatever overlaps one is there, of any process. */
Test(e2e_keep_others, many_windows)
{
    free(run_well("$DWELL record -q --keep 'handle>0ns' --keep-around 0ms --keep-others --mode ring=64K "
                  "$PROGRAMS/slow_few 2 200 201 3000 fork"));
    char *text =
        run_well("$DWELL info --format json | jq -c '.keep | [.slow_calls, ([.calls[].pid] | unique | length), "
                 "([.calls[] | select(.missing_ns > 0)] | length)]'; "
                 "$DWELL why --slow '>0ns' --format json handle | jq .slow.calls");
    cr_assert(eq(str, text, "[400,2,0]\n400\n"));
    free(text);
}

/* Of 3,000 short workers, those that ran in a window of another one stay. */
Test(e2e_keep_others, workers_that_have_ended)
{
    free(run_well("$DWELL record -q --keep 'work>70ms' --keep-others --max-size 40M,ring $PROGRAMS/kept_workers 3000 2 "
                  "100 100 >pids"));
    char *text = run_well("$DWELL info --format json >info.json; jq -c '[.keep.slow_calls, .keep.unkept_calls, "
                          ".session.lost_events, (.processes | length) > 31, .keep.dropped_processes > 1000, "
                          "(.processes | length) + .keep.dropped_processes]' info.json; "
                          "test $(stat -c %%s dwell.data) -le $((41 << 20)); echo $?; "
                          "$DWELL why --slow '>70ms' --format json work | jq .slow.calls");
    cr_assert(eq(str, text, "[30,0,0,true,true,3001]\n0\n30\n"));
    free(text);
}
