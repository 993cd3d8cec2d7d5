/* Merges real recordings with the dwell command. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_merge, .timeout = 300);

static void expect_error(const char *arguments, const char *message)
{
    struct ran r = run("$DWELL merge %s", arguments);
    cr_assert(eq(int, r.status, 2), "dwell merge %s", arguments);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message), "dwell merge %s", arguments);
    ran_drop(&r);
}

Test(e2e_merge, recordings_one_after_the_other)
{
    free(run_well("$DWELL record -q -o one $SAMPLES/fib 15 && $DWELL record -q -o two $SAMPLES/fib 10 && "
                  "$DWELL record -q -o three $SAMPLES/threads 3 100 && $DWELL merge one two three -o all"));
    struct report *all = report_of("all"), *apart = report_of("one two three");
    cr_assert(eq(u64, report_sum(all, "function", "fib", "calls"), 1973 + 177));
    cr_assert(eq(u64, report_sum(all, "function", NULL, "calls"), report_sum(apart, "function", NULL, "calls")));
    cr_assert(eq(u64, report_session(all, "processes"), 3));
    cr_assert(eq(u64, report_session(all, "threads"), report_session(apart, "threads")));
    cr_assert(eq(u64, report_session(all, "events"), report_session(apart, "events")));
    check_sums(all, "function");
    report_drop(all);
    report_drop(apart);
    char *ends = run_well("$DWELL info all | grep -c 'exit 0'");
    cr_assert(eq(str, ends, "3\n"));
    free(ends);
}

Test(e2e_merge, nothing_is_overwritten)
{
    free(run_well("$DWELL record -q -o one $SAMPLES/fib 5 && $DWELL record -q -o two $SAMPLES/fib 6 && "
                  "$DWELL record -q -o out $SAMPLES/fib 7 && cp out before && $DWELL merge one two -o out && cmp "
                  "out.old before && "
                  "! cmp -s out before"));
    free(run_well("echo precious > text"));
    expect_error("one two -o text",
                 "dwell: text: not a dwell session, so it is not replaced; choose another file with -o\n");
    free(run_well("grep -q precious text && ! ls *.part 2>/dev/null"));
    expect_error("one two -o two", "dwell: two: is one of the sessions to merge; write to another file\n");
    expect_error("one -o all", "dwell: merge: give two sessions or more\n");
    expect_error("one ./one -o all", "dwell: merge: one is given more than once; give another session\n");
    expect_error("one two", "dwell: merge: say which session file to write, with -o FILE\n");
    expect_error("one missing -o all", "dwell: missing: No such file or directory\n");
    free(run_well("cp one copy; ! ls all 2>/dev/null"));
    expect_error("one copy -o all",
                 "dwell: copy: cannot be merged with one: it is a copy, so its calls would count twice; "
                 "report, tree and callers take both at once\n");
    free(run_well("! ls all 2>/dev/null"));
}

Test(e2e_merge, without_room_nothing_is_written)
{
    free(run_well("$DWELL record -q -o one $SAMPLES/fib 20 && $DWELL record -q -o two $SAMPLES/fib 20"));
    struct ran r = run("ulimit -f 128; $DWELL merge one two -o all");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: all: the file would exceed the limit of file size (ulimit -f)\n"));
    ran_drop(&r);
    free(run_well("! ls all* 2>/dev/null"));
}

Test(e2e_merge, recordings_of_mode_profile)
{
    free(run_well("for i in 1 2; do $DWELL record -q --mode=profile -o part-$i $SAMPLES/fib 15 || exit 1; done; "
                  "$DWELL merge 'part-*' -o all; $DWELL record -q -o trace $SAMPLES/fib 5"));
    struct report *all = report_of("all");
    cr_assert(eq(u64, report_sum(all, "function", "fib", "calls"), 2 * 1973));
    report_drop(all);
    expect_error("part-1 trace -o other", "dwell: trace: cannot be merged with part-1: recorded in another mode; "
                                          "report, tree and callers take both at once\n");
}
