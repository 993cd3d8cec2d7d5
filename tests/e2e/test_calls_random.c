/* Made programs call functions of made libraries, which take and return values of each class (tests/random/calls). They
 * print the same as without dwell, and each call is in the session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_calls_random, .timeout = 600);

enum { PROGRAMS = 20, AT_ONCE = 5 };

ParameterizedTestParameters(e2e_calls_random, made_programs)
{
    static int firsts[PROGRAMS / AT_ONCE];
    for (int i = 0; i < PROGRAMS / AT_ONCE; i++)
        firsts[i] = i * AT_ONCE + 1;
    return cr_make_param_array(int, firsts, PROGRAMS / AT_ONCE);
}

ParameterizedTest(int *first, e2e_calls_random, made_programs)
{
    char expected[16];
    char *agreed =
        run_well("python3 " DWELL_CONSUMERS "/../random/calls/run_calls.py $DWELL %d %d", *first, *first + AT_ONCE - 1);
    snprintf(expected, sizeof expected, "%d\n", AT_ONCE);
    cr_assert(eq(str, agreed, expected));
    free(agreed);
}

static void random_expect_agreed(int seed)
{
    char *agreed = run_well("python3 " DWELL_CONSUMERS "/../random/calls/run_calls.py $DWELL %d %d", seed, seed);
    cr_assert(eq(str, agreed, "1\n"), "%d", seed);
    free(agreed);
}

/* An argument that is aligned to 32 bytes lies behind bytes that align it, which count as well. */
Test(e2e_calls_random, aligned_arguments)
{
    random_expect_agreed(30208);
}

/* A loop over the last object of a frame compares with the address of the return address. */
Test(e2e_calls_random, objects_that_end_at_the_frame)
{
    random_expect_agreed(30225);
    random_expect_agreed(30238);
}
