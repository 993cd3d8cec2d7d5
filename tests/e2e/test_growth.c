/* Sessions of real programs, read while they grow. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/growth.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_growth, .timeout = 300, .init = without_os_calls);

static void growth_check_program(const char *mode, const char *program)
{
    char path[4096];
    free(run_well("$DWELL record -q --mode %s %s", mode, program));
    snprintf(path, sizeof path, "%s", test_path("dwell.data"));
    for (uint64_t seed = 1; seed < 6; seed++)
        check_growth(path, seed);
}

Test(e2e_growth, pauses_everywhere)
{
    growth_check_program("trace", "$PROGRAMS/control/control levels");
    growth_check_program("trace", "$PROGRAMS/control/control stacks");
    growth_check_program("trace", "$PROGRAMS/control/control others");
    growth_check_program("trace", "$PROGRAMS/control/control often");
}

Test(e2e_growth, several_stacks_on_one_thread)
{
    growth_check_program("trace", "$PROGRAMS/stacks/stacks ucontext");
    growth_check_program("trace", "$PROGRAMS/stacks/stacks migrate");
}

Test(e2e_growth, frames_that_were_left)
{
    growth_check_program("trace", "$PROGRAMS/frames/exceptions-gcc-O2");
    growth_check_program("trace", "$PROGRAMS/frames/leaving-gcc-O2; true");
}

Test(e2e_growth, probes_that_were_interrupted)
{
    growth_check_program("trace", "$PROGRAMS/signals/signals-O2 nested 5000");
    growth_check_program("trace", "$PROGRAMS/signals/signals-O2 jump");
}

Test(e2e_growth, modes_ring_and_profile)
{
    growth_check_program("ring=64K", "$SAMPLES/threads 4 20000");
    growth_check_program("profile", "$SAMPLES/threads 4 20000");
    growth_check_program("ring=1M", "$PROGRAMS/control/control stacks");
}

Test(e2e_growth, waits_that_do_not_end)
{
    growth_check_program("trace", "$PROGRAMS/lastwait");
    growth_check_program("trace", "$PROGRAMS/lastwait killed; true");
    growth_check_program("profile", "$PROGRAMS/lastwait");
}

Test(e2e_growth, children)
{
    growth_check_program("trace", "$SAMPLES/processes 20 100");
}
