/* Functions of libraries that filters hide: their calls go past the stubs if hidden functions have no probes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_calls_hidden, .timeout = 300);

static void hidden_expect(const char *options, const char *printed, const char *rows)
{
    char *found =
        run_well("$DWELL record -q %s --calls-to qsort --calls-to callee_calls ./hidden 2>errors; cat errors", options);
    cr_assert(eq(str, found, (char *)printed), "%s", options);
    free(found);
    found = run_well(
        "$DWELL report --by function -n 0 --format json | jq -r '[.rows[] | select(.calls) | select(.function == \"qsort\" or "
        ".function == \"callee_calls\") | \"\\(.function) \\(.calls)\"] | sort | join(\", \")'");
    cr_assert(eq(str, found, (char *)rows), "%s", options);
    free(found);
}

Test(e2e_calls_hidden, go_past_the_stubs)
{
    free(run_well("gcc -O1 -g -w -D_GNU_SOURCE -finstrument-functions " DWELL_CONSUMERS
                  "/../e2e/programs/calls_to/hidden.c -o hidden"));
    hidden_expect("--overhead none", "100 recorded\n", "callee_calls 50, qsort 50\n");
    hidden_expect("--overhead none --suppress qsort", "100 recorded\n", "callee_calls 50\n");
    hidden_expect("--no-hidden-probes --overhead none --suppress qsort", "50 recorded\n", "callee_calls 50\n");
    hidden_expect("--no-hidden-probes --overhead none --suppress callee_calls", "50 recorded\n", "qsort 50\n");
    hidden_expect("--no-hidden-probes --overhead none --only main", "0 recorded\n", "\n");
    hidden_expect("--no-hidden-probes --mode profile --only main --only qsort", "50 recorded\n", "qsort 50\n");
    hidden_expect("--overhead 50% --suppress qsort --suppress callee_calls", "0 recorded\n", "\n");
}
