/* How the time of a real program's functions grows. The limits are wide, as a clock measures it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
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

/* Four processes use the CPUs besides. The order of the calls is by size, so that a slow time concerns all sizes. */
Test(e2e_scaling_recorded, planted_exponents_on_a_busy_machine)
{
    static const struct {
        const char *function;
        double exponent;
        const char *model;
    } planted[] = {
        { "linear", 1, "n\n" }, { "steeper", 1.5, NULL }, { "square", 2, "n^2\n" }, { "sorting", 0, "n log n\n" }
    };
    free(
        run_well("gcc -O2 -g -finstrument-functions -o planted " DWELL_CONSUMERS
                 "/../e2e/programs/values/planted.c -lm && $DWELL record -q --overhead none --values linear:n --values "
                 "steeper:n --values square:n --values sorting:n ./planted 4"));
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        const char *function = planted[i].function;
        char *exponent = run_well("$DWELL scaling %s:n --format json | jq .exponent", function);
        char *model = run_well("$DWELL scaling %s:n --model usual --format json | jq -r .model", function);
        if (planted[i].exponent > 0)
            cr_expect(le(dbl, fabs(strtod(exponent, NULL) - planted[i].exponent), 0.05), "%s: %s", function, exponent);
        if (planted[i].model)
            cr_expect(eq(str, model, (char *)planted[i].model), "%s", function);
        free(exponent);
        free(model);
    }
}
