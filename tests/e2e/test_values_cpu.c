/* --values FUNCTION:cpu: the processor on which a call was entered, compared with those that a program chooses. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_values_cpu, .timeout = 600);

static void cpu_build(void)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o processors " DWELL_CONSUMERS
                  "/../e2e/programs/values/processors.c"));
}

static void cpu_record(const char *values)
{
    if (strverscmp(gnu_get_libc_version(), "2.35") < 0)
        cr_skip_test("this libc does not register rseq");
    cpu_build();
    free(run_well("$DWELL record -q %s ./processors >chosen", values));
}

static void cpu_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

#define CALLS(what) "$DWELL values --each 'handle:" what "' --format json | jq -c '.rows[] | [.values.cpu, .calls]'"

Test(e2e_values_cpu, calls_by_the_processor)
{
    cpu_record("--values handle:cpu");
    cpu_expect(CALLS("cpu") " | sort | diff - chosen && echo same", "same\n");
    cpu_expect("$DWELL report --by function --within \"handle: cpu = $(jq -s '.[0][0]' chosen)\" --format json | "
               "jq '.rows[] | select(.function == \"handle\").calls'",
               "300\n");
}

Test(e2e_values_cpu, with_other_values)
{
    cpu_record("--values handle:n,cpu");
    cpu_expect(CALLS("cpu") " | sort | diff - chosen && echo same", "same\n");
    cpu_expect("$DWELL values --by n,cpu --format json handle | jq -cs --slurpfile chosen chosen "
               "'[.[].rows[] | select(.values.cpu == $chosen[0][0]) | [.values.n, .calls]] | sort'",
               "[[0,100],[1,100],[2,100]]\n");
}

Test(e2e_values_cpu, a_parameter_of_that_name_comes_first)
{
    cpu_record("--values place:cpu");
    cpu_expect("$DWELL values place:cpu --format json | jq -c '.rows[0] | [.values.cpu, .calls]'", "[1000,1]\n");
}

Test(e2e_values_cpu, with_a_value_that_has_no_short_form)
{
    cpu_record("--values wide:x,cpu");
    cpu_expect("$DWELL values --by x,cpu --format json wide | jq -c '.rows[].values | [.cpu, .x]' | sort >found; "
               "jq -c '[.[0], .[0] + 0.5]' chosen | sort | diff - found && echo same",
               "same\n");
}

/* The fact is named: it is none of the values of a function without names. */
Test(e2e_values_cpu, is_listed)
{
    cpu_build();
    cpu_expect("$DWELL values --list ./processors handle:n,cpu --format json | "
               "jq -c '.rows[] | [.value, .type, .readable, .places] , .where' | tail -n 2",
               "[\"cpu\",\"processor\",1,1]\n\"the processor\"\n");
    cpu_expect("$DWELL values --list ./processors place:cpu --format json | jq -c '.rows[].type'", "\"int\"\n");
    cpu_expect("$DWELL values --list ./processors handle --format json | jq -c '.rows[].value'", "\"n\"\n");
    cpu_expect("$DWELL values --list ./processors 'handle:cpu->x' 2>&1; true",
               "dwell: handle: no parameter 'cpu'; it has n\n");
}

Test(e2e_values_cpu, is_unreadable_without_rseq)
{
    cpu_build();
    free(run_well("GLIBC_TUNABLES=glibc.pthread.rseq=0 $DWELL record -q --values handle:n,cpu ./processors"));
    cpu_expect(CALLS("cpu") " | jq -c '.[0]'", "null\n");
    cpu_expect("$DWELL values --by n,cpu --format json handle | jq -c '[.rows[].values.n] | sort'", "[0,1,2]\n");
}
