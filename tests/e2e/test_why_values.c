/* dwell why with recorded values: the argument of the slow calls, and none if it is chance. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/features.h"
#include "support/run.h"

static void why_values_begin(void)
{
    need_features("causes");
}

TestSuite(e2e_why_values, .init = why_values_begin, .timeout = 600);

/* The factors that are arguments, with the share of the usual calls. */
static void why_values_expect(const char *compiler, const char *how, const char *expected)
{
    free(run_well("%s -O2 -g -finstrument-functions -o slow " DWELL_CONSUMERS
                  "/../e2e/programs/values/slow_argument.c && $DWELL record -q --values handle:n,kind ./slow %s",
                  compiler, how));
    char *text = run_well("$DWELL why --slow '>1ms' --format json handle | jq -c '.factors[] | select(.name == "
                          "\"argument\") | [.value, .usual_share == 0, .slow_share > 0.5]'");
    cr_assert(eq(str, text, (char *)expected), "%s %s", compiler, how);
    free(text);
}

Test(e2e_why_values, a_planted_argument_is_named)
{
    why_values_expect("gcc", "planted", "[\"n=100000\",true,true]\n");
}

Test(e2e_why_values, of_clang)
{
    why_values_expect("clang", "planted", "[\"n=100000\",true,true]\n");
}

Test(e2e_why_values, arguments_of_random_slow_calls_are_not_named)
{
    why_values_expect("gcc", "random", "");
}
