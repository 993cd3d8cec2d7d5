/* record --sample: samples of the threads' CPU time are in the session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_samples, .timeout = 300, .init = without_os_calls);

/* The number that `dwell info` prints; zero if there are no samples. */
static unsigned long samples_recorded(const char *file)
{
    char *info = run_well("$DWELL info %s | sed -n 's/^samples  *//p'", file);
    const unsigned long count = strtoul(info, NULL, 10);
    free(info);
    return count;
}

/* As many as the CPU time says. A virtual machine may delay some, and then they are fewer. */
Test(e2e_samples, follow_the_cpu_time)
{
    free(run_well(
        "$DWELL record -q --sample 1000 sh -c '$SAMPLES/threads 2 200000 && $SAMPLES/sleeper 300 >/dev/null'"));
    char *info = run_well("$DWELL info");
    cr_assert(has(info, ", 1000 a second of CPU time, lost 0\n"), "%s", info);
    free(info);
    cr_assert(ge(ulong, samples_recorded(""), 10));
}

Test(e2e_samples, are_not_taken_without_the_option)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 2 20000"));
    char *info = run_well("$DWELL info");
    cr_assert(not(has(info, "\nsamples ")), "%s", info);
    free(info);
    free(run_well("$DWELL record -q --sample 0 $SAMPLES/threads 2 20000"));
    info = run_well("$DWELL info");
    cr_assert(not(has(info, "\nsamples ")), "%s", info);
    free(info);
}

Test(e2e_samples, options_that_are_wrong)
{
    static const char *const cases[][2] = {
        { "--sample x", "--sample: 'x' is not a number from 0 to 10000" },
        { "--sample -1", "--sample: '-1' is not a number from 0 to 10000" },
        { "--sample 10001", "--sample: '10001' is not a number from 0 to 10000" },
        { "--sample 100 --mode profile", "--sample: mode profile does not record when a function ran" },
    };
    for (int i = 0; i < 4; i++) {
        struct ran r = run("$DWELL record %s $SAMPLES/fib 3", cases[i][0]);
        cr_assert(eq(int, r.status, 125));
        cr_assert(has(r.err, cases[i][1]), "%s", r.err);
        ran_drop(&r);
    }
}

/* A recorder that is killed leaves a session whose samples are known by their TIDs. */
Test(e2e_samples, survive_the_recorder)
{
    free(run_well("$DWELL record -q --sample 2000 sh -c 'echo $$ >child; exec $SAMPLES/threads 2 100000000' >/dev/null "
                  "2>&1 & pid=$!; sleep 1; kill -9 $pid; sleep 0.1; kill -9 $(cat child); cp dwell.data killed.data"));
    cr_assert(ge(ulong, samples_recorded("killed.data"), 10));
}
