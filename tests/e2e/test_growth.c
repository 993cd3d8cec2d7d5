/* Sessions of real programs, read while they grow. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/growth.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_growth, .timeout = 120, .init = without_os_calls);

static void check(const char *mode, const char *program)
{
    char path[4096];
    free(run_well("$DWELL record -q --mode %s %s", mode, program));
    snprintf(path, sizeof path, "%s", test_path("dwell.data"));
    for (uint64_t seed = 1; seed < 6; seed++)
        check_growth(path, seed);
}

Test(e2e_growth, pauses_everywhere)
{
    check("trace", "$PROGRAMS/control/control levels");
    check("trace", "$PROGRAMS/control/control stacks");
    check("trace", "$PROGRAMS/control/control others");
    check("trace", "$PROGRAMS/control/control often");
}

Test(e2e_growth, several_stacks_on_one_thread)
{
    check("trace", "$PROGRAMS/stacks/stacks ucontext");
    check("trace", "$PROGRAMS/stacks/stacks migrate");
}

Test(e2e_growth, frames_that_were_left)
{
    check("trace", "$PROGRAMS/frames/exceptions-gcc-O2");
    check("trace", "$PROGRAMS/frames/leaving-gcc-O2; true");
}

Test(e2e_growth, probes_that_were_interrupted)
{
    check("trace", "$PROGRAMS/signals/signals-O2 nested 5000");
    check("trace", "$PROGRAMS/signals/signals-O2 jump");
}

Test(e2e_growth, modes_ring_and_profile)
{
    check("ring=64K", "$SAMPLES/threads 4 20000");
    check("profile", "$SAMPLES/threads 4 20000");
    check("ring=1M", "$PROGRAMS/control/control stacks");
}

Test(e2e_growth, waits_that_do_not_end)
{
    check("trace", "$PROGRAMS/lastwait");
    check("trace", "$PROGRAMS/lastwait killed; true");
    check("profile", "$PROGRAMS/lastwait");
}

Test(e2e_growth, children)
{
    check("trace", "$SAMPLES/processes 20 100");
}
