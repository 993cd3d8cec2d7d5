/*
 * System calls and allocations of dwell itself fail, one in each run or from one on, with several errnos. Each run ends
 * with success or a message, and loses nothing: tests/consumers/failures.py. It samples them; DWELL_FAILURES=all tries
 * all.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/features.h"
#include "support/run.h"

TestSuite(e2e_failures, .timeout = 36000);

static void failures_need_ptrace(void)
{
    struct ran r = run("$PROGRAMS/scarcity/fail true");
    if (r.status == 96)
        cr_skip_test("ptrace is not allowed here");
    ran_drop(&r);
}

static void failures_check(const char *commands)
{
    failures_need_ptrace();
    struct ran r = run("mkdir work && python3 -B " DWELL_CONSUMERS "/failures.py $BUILD $PWD/work %s", commands);
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_failures, reports)
{
    failures_check("report tree callers replay info diff stdout");
}

Test(e2e_failures, outputs)
{
    need_features("events perflog vsperf");
    failures_check("events merge profile import view perflog");
}

Test(e2e_failures, record)
{
    failures_check("record record-samples");
}

/* The program sleeps in each of many runs. Five at a time take turns. */
Test(e2e_failures, record_late)
{
    failures_need_ptrace();
    struct ran r = run("for i in 0 1 2 3 4; do mkdir work$i; { python3 -B " DWELL_CONSUMERS
                       "/failures.py $BUILD $PWD/work$i:$i/5 record-late && : >done$i; } & done; wait; ls -d done*");
    cr_assert(eq(str, r.out, "done0\ndone1\ndone2\ndone3\ndone4\n"), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_failures, exports_of_sums)
{
    need_features("vsperf");
    failures_check("callgrind collapsed pprof speedscope vsperf sqlite");
}

Test(e2e_failures, exports_of_calls)
{
    need_features("perflog");
    failures_check("chrome perfetto firefox perflog-export ctf");
}

/* Each read, write and close of a file fails once: of all commands, whatever their number of calls. */
Test(e2e_failures, each_transfer_of_outputs)
{
    need_features("events perflog vsperf");
    failures_check("each report tree callers replay info diff stdout events merge profile import view perflog");
}

Test(e2e_failures, each_transfer_of_exports)
{
    need_features("events perflog vsperf");
    failures_check(
        "each callgrind collapsed pprof speedscope vsperf sqlite chrome perfetto firefox perflog-export ctf");
}

Test(e2e_failures, each_transfer_of_the_recorder)
{
    failures_check("each record record-samples record-profile record-ring");
}

/* One read of the session, or of the sums when they are completed. Nothing is lost without an error. 17 is pread64. */
Test(e2e_failures, each_read_of_sums)
{
    failures_need_ptrace();
    char *out = run_well(
        "$DWELL record -q -o one.data $SAMPLES/fib 5 >/dev/null; fail=\"$PROGRAMS/scarcity/fail -c 17\"\n"
        "FAIL_LOG=log $fail $DWELL profile one.data -o good; n=0\n"
        "while test $n -lt $(wc -l <log); do n=$((n + 1)); rm -f sums\n"
        "if $fail -n $n $DWELL profile one.data -o sums 2>said; then cmp good sums; else test ! -e sums && grep -q "
        "'^dwell: ' said; fi || echo \"read $n\"; done");
    cr_assert(eq(str, out, ""));
    free(out);
}
