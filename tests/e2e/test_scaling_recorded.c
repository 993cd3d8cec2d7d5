/* How the time of a real program's functions grows. The limits are wide, as a clock measures it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_scaling_recorded, .timeout = 600);

static void scaling_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

#define EXPONENT(what, options)                                                                                        \
    "$DWELL scaling '" what "' " options " --format json | jq '.exponent | . * 2 | round / 2'"

Test(e2e_scaling_recorded, of_a_program)
{
    free(run_well("gcc -O1 -g -finstrument-functions -o scaled " DWELL_CONSUMERS "/../e2e/programs/values/scaled.c"));
    free(run_well("$DWELL record -q --values 'sort:n' --values 'add:n' --values 'handle:n' ./scaled"));
    scaling_expect(EXPONENT("sort:n", ""), "2\n");
    scaling_expect(EXPONENT("add:n", ""), "1\n");
    scaling_expect(EXPONENT("handle:n", "--total sort"), "2\n");
    scaling_expect("$DWELL scaling handle:n --format json | jq -r '.code[0].function, .calls, "
                   "([.points[].value] | join(\" \")), ([.points[].calls] | unique | join(\" \"))'",
                   "sort\n42\n100 200 400 800 1600 3200 6400\n6\n");
}
