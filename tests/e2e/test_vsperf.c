/* A recording exported as VSPerfReport's summaries and imported again. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/distance.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_vsperf, .timeout = 120);

static void there_and_back(const char *program, const char *summaries)
{
    free(run_well("rm -f r.dwell* back.dwell* r_*; $DWELL record -q -o r.dwell %s", program));
    free(run_well("$DWELL export vsperf r.dwell -o r && $DWELL import vsperf %s -o back.dwell", summaries));
    free(run_well("$DWELL report r.dwell --format csv >r.csv && $DWELL report back.dwell --format csv >back.csv && cmp r.csv back.csv"));
}

/* The clock's rate comes with the header, so that not only ticks but nanoseconds are the same. */
Test(e2e_vsperf, the_function_table_is_the_same)
{
    static const char *const programs[] = { "$SAMPLES/fib 12", "$SAMPLES/threads 3 20", "$SAMPLES/processes", "$SAMPLES/modules/modules" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        there_and_back(programs[i], "r_CallerCalleeSummary.csv r_Header.csv");
        const struct distance d = distance_of(test_path("r.dwell"), test_path("back.dwell"));
        cr_log_warn("%s: distance of the scaled tree: exclusive %.4f, inclusive %.4f", programs[i], d.exclusive, d.inclusive);
        cr_assert(d.exclusive >= 0 && d.exclusive < 1);
        there_and_back(programs[i], "r_*.csv");
        const struct distance none = distance_of(test_path("r.dwell"), test_path("back.dwell"));
        cr_assert(none.exclusive < 1e-9, "%s", programs[i]);
        cr_assert(none.inclusive < 1e-9, "%s", programs[i]);
    }
}
