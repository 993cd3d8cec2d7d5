/*
 * System calls and allocations of dwell itself fail, one in each run or from one on, with several errnos. Each run ends
 * with success or a message, and loses nothing: tests/consumers/failures.py. It samples them; DWELL_FAILURES=all tries
 * all.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/run.h"

TestSuite(e2e_failures, .timeout = 36000);

static void failures_check(const char *commands)
{
    struct ran r = run("$PROGRAMS/scarcity/fail true");
    if (r.status == 96)
        cr_skip_test("ptrace is not allowed here");
    ran_drop(&r);
    r = run("mkdir work && python3 -B " DWELL_CONSUMERS "/failures.py $BUILD $PWD/work %s", commands);
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_failures, reports)
{
    failures_check("report tree callers replay info diff stdout");
}

Test(e2e_failures, outputs)
{
    failures_check("events merge import view perflog");
}

Test(e2e_failures, record)
{
    failures_check("record record-samples");
}

Test(e2e_failures, record_late)
{
    failures_check("record-late");
}

Test(e2e_failures, exports_of_sums)
{
    failures_check("callgrind collapsed pprof speedscope vsperf sqlite");
}

Test(e2e_failures, exports_of_calls)
{
    failures_check("chrome perfetto firefox perflog-export ctf");
}
