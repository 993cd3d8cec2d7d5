/* Windows of slow calls: `dwell record --keep`. The programs' slow calls take 200 ms, and no other one half of that. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/run.h"

TestSuite(e2e_keep, .timeout = 600);

/* Slow and usual calls that were kept, slow ones that were not, and those that lack a part of their window. */
#define KEPT                                                                                                           \
    "$DWELL info --format json | jq -c '.keep | [.slow_calls, .usual_calls, .limited_calls + .unkept_calls, "          \
    "([.calls[] | select(.missing_ns > 0)] | length)]'"

/* Slow calls that the events of the session have, from enter to exit. */
#define WHOLE "$DWELL why --slow '>100ms' --format json handle | jq .slow.calls"

static void keep_expect(const char *options, const char *program, const char *kept, const char *whole)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' %s $PROGRAMS/slow_few %s", options, program));
    char *text = run_well(KEPT);
    cr_assert(eq(str, text, (char *)kept), "%s", program);
    free(text);
    text = run_well(WHOLE);
    cr_assert(eq(str, text, (char *)whole), "%s", program);
    free(text);
}

Test(e2e_keep, all_slow_calls)
{
    keep_expect("", "1 100 20 1000", "[5,0,0,0]\n", "5\n");
}

/* 95 calls in each thread are not slow. */
Test(e2e_keep, threads_and_usual_calls)
{
    keep_expect("--keep-usual 10", "4 100 20 1000", "[20,36,0,0]\n", "20\n");
}

/* Of recursive calls, the outermost one counts. */
Test(e2e_keep, recursion)
{
    keep_expect("", "1 60 20 100 nest", "[3,0,0,0]\n", "3\n");
}

Test(e2e_keep, forked_child)
{
    keep_expect("", "2 60 20 1000 fork", "[6,0,0,0]\n", "6\n");
    char *text = run_well("$DWELL info --format json | jq '[.keep.calls[].pid] | unique | length'");
    cr_assert(eq(str, text, "2\n"));
    free(text);
}

Test(e2e_keep, call_sites)
{
    keep_expect("--call-sites", "1 60 20 100", "[3,0,0,0]\n", "3\n");
}

/* What was posted is there, and so are its events. */
Test(e2e_keep, killed_program)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' $PROGRAMS/slow_few 2 60 20 1000 kill; test $? -eq 137"));
    char *text = run_well(KEPT "; " WHOLE);
    cr_assert(eq(str, text, "[6,0,0,0]\n6\n"));
    free(text);
}

/* The pipe ends with the program. */
Test(e2e_keep, killed_recorder)
{
    free(run_well("($DWELL record -q --keep 'handle>100ms' $PROGRAMS/slow_few 2 60 20 300000 orphan) | cat"));
    char *text = run_well(KEPT "; " WHOLE);
    cr_assert(eq(str, text, "[6,0,0,0]\n6\n"));
    free(text);
}

/* The rings are used again many times between the slow calls, and only windows are left. */
Test(e2e_keep, less_than_a_trace)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --keep-around 0ms --mode ring=256K $PROGRAMS/slow_few "
                  "1 60 20 100000"));
    char *text = run_well(KEPT "; " WHOLE "; $DWELL info --format json | jq '.session.enters < 300000'");
    cr_assert(eq(str, text, "[3,0,0,0]\n3\ntrue\n"));
    free(text);
}

/* A ring that is shorter than the call is said, with the size that would do. */
Test(e2e_keep, ring_that_is_too_short)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --mode ring=64K $PROGRAMS/slow_few 1 40 20 500000 long"));
    char *text = run_well("$DWELL info --format json | jq -c '.keep | [.slow_calls, ([.calls[] | "
                          "select(.missing_ns > 0 and .ring_bytes > 65536)] | length)]'; $DWELL info | "
                          "grep -c 'of its window are missing; --mode ring=[0-9]*M would hold it'");
    cr_assert(eq(str, text, "[2,2]\n2\n"));
    free(text);
}

/* As many as come. */
Test(e2e_keep, each_call)
{
    free(run_well("$DWELL record -q --keep 'handle>0ns' $PROGRAMS/slow_few 4 3000 3001 0"));
    char *text = run_well(KEPT "; $DWELL report --format json --filter handle | jq '[.functions[]? // .rows[] | "
                               "select(.function == \"handle\")][0].calls'");
    cr_assert(eq(str, text, "[12000,0,0,0]\n12000\n"));
    free(text);
}

Test(e2e_keep, usual_calls_alone)
{
    free(run_well("$DWELL record -q --keep 'handle>100s' --keep-usual 10 $PROGRAMS/slow_few 1 1000 1001 10"));
    char *text = run_well(KEPT);
    cr_assert(eq(str, text, "[0,100,0,0]\n"));
    free(text);
}

/* Limits that the process learns. Whatever else takes long on a busy machine is kept as well, but not most calls. */
Test(e2e_keep, learnt_limits)
{
    static const char *const limits[] = { "handle>p99", "handle>100xmean" };
    for (int i = 0; i < 2; i++) {
        free(run_well("$DWELL record -q --keep '%s' $PROGRAMS/slow_few 1 2000 500 100", limits[i]));
        char *text = run_well("$DWELL info --format json | jq -c '.keep | [([.calls[] | select(.duration_ns > 1e8)] | "
                              "length), .slow_calls < 300, .watches]'");
        char *expected = need_text("[4,true,[{\"text\":\"%s\",\"limit_ns\":null}]]\n", limits[i]);
        cr_assert(eq(str, text, expected));
        free(expected);
        free(text);
    }
}

Test(e2e_keep, limit)
{
    free(run_well("$DWELL record -q --keep 'handle>0ns' --keep-limit 7/day $PROGRAMS/slow_few 3 100 101 10"));
    char *text = run_well(KEPT "; $DWELL report | grep -c '^! 293 slow calls were not kept (dwell info says why)'");
    cr_assert(eq(str, text, "[7,0,293,0]\n1\n"));
    free(text);
}

/* When the session has no room for more windows, the rings go on. */
Test(e2e_keep, maximum_size)
{
    free(run_well("$DWELL record -q --keep 'handle>0ns' --mode ring=64K --max-size 8M $PROGRAMS/slow_few 1 500 501 "
                  "10000"));
    char *text = run_well("$DWELL info --format json | jq -c '[.keep.slow_calls + .keep.unkept_calls, "
                          ".keep.unkept_calls > 0, .keep.slow_calls > 0, .session.lost_events]'");
    cr_assert(eq(str, text, "[500,true,true,0]\n"));
    free(text);
}

Test(e2e_keep, no_slow_call)
{
    char *text = run_well("$DWELL record --keep 'handle>100s' $PROGRAMS/slow_few 1 10 11 10 2>&1; " KEPT);
    cr_assert(eq(str, text, "dwell: no call was slow, so nothing is kept in dwell.data\n[0,0,0,0]\n"));
    free(text);
}

#define WRONG_LIMIT(text)                                                                                              \
    "--keep: '" text "' is not a function and a limit, such as 'parse_request>20ms', 'parse_request>p99' or "          \
    "'parse_request>5xmean'\n"

Test(e2e_keep, what_is_wrong)
{
    static const char *const wrong[][2] = {
        { "--keep handle", WRONG_LIMIT("handle") },
        { "--keep 'handle>x'", WRONG_LIMIT("handle>x") },
        { "--keep 'handle>p10'", WRONG_LIMIT("handle>p10") },
        { "--keep 'handle>1xmean'", WRONG_LIMIT("handle>1xmean") },
        { "--keep '>20ms'", WRONG_LIMIT(">20ms") },
        { "--keep 'f>1s' --mode profile", "--keep: mode profile has no single calls; use --mode ring=SIZE\n" },
        { "--keep 'f>1s' --max-size 8M,ring", "--keep: each thread has a ring of its own; use --max-size SIZE\n" },
        { "--keep-usual 5", "--keep-usual and --keep-limit are for --keep 'FUNCTION>TIME'\n" },
        { "--keep 'f>1s' --keep-limit 5", "--keep-limit: '5' is not a number from 1 to 1000000 of windows in a time, "
                                          "such as 10/min (s, min, h, day)\n" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran r = run("$DWELL record %s $PROGRAMS/slow_few 1 1 1 1", wrong[i][0]);
        cr_assert(eq(int, r.status, 125));
        cr_assert(has(r.err, wrong[i][1]), "%s: %s", wrong[i][0], r.err);
        ran_drop(&r);
    }
}
