/* Ranges of numbers in dwell values: powers of two, and quantiles of the calls. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_ranges, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/values/"
#define ROWS(options)                                                                                                  \
    "$DWELL values other " options " --format json | jq -c '[.rows[] | [.values.n.from, .values.n.to, .calls]]'"

static void ranges_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

static void ranges_record(const char *mode, const char *program)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o summed " SOURCES "summed.c -lpthread"));
    free(run_well("$DWELL record -q --mode %s --overhead none --values other ./summed %s", mode, program));
}

/* Three calls of each square below 1000 * 1000: a tenth of them has a hundred squares. */
Test(e2e_values_ranges, of_many_numbers)
{
    ranges_record("trace", "many 1000");
    ranges_expect(ROWS("--ranges quantiles"),
                  "[[0,9801,300],[10000,39601,300],[40000,89401,300],[90000,159201,300],[160000,249001,300],"
                  "[250000,358801,300],[360000,488601,300],[490000,638401,300],[640000,808201,300],"
                  "[810000,998001,300]]\n");
    ranges_expect("$DWELL values other --ranges quantiles | awk 'NR > 2 { print $1, $(NF - 2), $(NF - 1), $NF }' | "
                  "sed -n '1,2p'",
                  "300 0 to 9801\n300 10000 to 39601\n");
    ranges_expect(ROWS("--ranges powers") " | tail -c 62; " ROWS("") " | tail -c 62",
                  "[131072,262144,447],[262144,524288,639],[524288,1048576,825]]\n"
                  "[131072,262144,447],[262144,524288,639],[524288,1048576,825]]\n");
}

/* Calls of one value stay together, so there can be fewer ranges. */
Test(e2e_values_ranges, of_a_value_with_many_calls)
{
    static const char *const modes[] = { "trace", "profile" };
    for (size_t i = 0; i < 2; i++) {
        ranges_record(modes[i], "skewed 100");
        ranges_expect(ROWS("--ranges quantiles"),
                      "[[0,0,100],[1,20,20],[21,40,20],[41,60,20],[61,80,20],[81,100,20]]\n");
        ranges_expect(ROWS(""), "[[0,0,100],[1,2,1],[2,4,2],[4,8,4],[8,16,8],[16,32,16],[32,64,32],[64,128,37]]\n");
        ranges_record(modes[i], "skewed 19"); /* as few as have a row each */
        ranges_expect("$DWELL values other --ranges quantiles --format json | jq -c '[.rows[] | .values.n] | [length, "
                      ".[0], .[19]]'",
                      "[20,0,19]\n");
    }
}

Test(e2e_values_ranges, of_no_other_kind)
{
    ranges_record("trace", "skewed 1");
    ranges_expect("$DWELL values other --ranges tenths 2>&1; true",
                  "dwell: --ranges: 'tenths' is none of powers, quantiles\n");
}
