/* A recording exported as VSPerfReport's summaries and imported again. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/distance.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_vsperf, .timeout = 300);

static struct distance from_true_tree(void)
{
    char *original = strdup(test_path("r.dwell")), *back = strdup(test_path("back.dwell")); /* the path is static */
    const struct distance d = distance_of(original, back);
    free(original);
    free(back);
    return d;
}

static void vsperf_export_and_import(const char *program, const char *summaries)
{
    free(run_well("rm -f r.dwell* back.dwell* r_*; $DWELL record -q -o r.dwell %s", program));
    free(run_well("$DWELL export vsperf r.dwell -o r && $DWELL import vsperf %s -o back.dwell", summaries));
    free(run_well(
        "$DWELL report r.dwell --format csv | cut -d, -f-15 >r.csv && $DWELL report back.dwell --format csv | cut -d, -f-15 >back.csv && cmp r.csv back.csv"));
}

/* The header has the clock's rate, so ticks and nanoseconds are both the same. */
Test(e2e_vsperf, the_function_table_is_the_same)
{
    static const char *const programs[] = {
        "$SAMPLES/fib 12",
        "$SAMPLES/threads 3 1000",
        "$SAMPLES/processes 5",
        "$SAMPLES/cplusplus",
        "$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 100 20",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        vsperf_export_and_import(programs[i], "r_CallerCalleeSummary.csv r_Header.csv");
        const struct distance d = from_true_tree();
        cr_log_info("%s: distance of the scaled tree: exclusive %.4f, inclusive %.4f", programs[i], d.exclusive,
                    d.inclusive);
        cr_assert(d.exclusive >= 0 && d.exclusive < 1);
        cr_assert(d.inclusive > 0 || i != 0, "fib's levels are one in a scaled tree");
        vsperf_export_and_import(programs[i], "r_*.csv");
        const struct distance none = from_true_tree();
        cr_assert(none.exclusive < 1e-9, "%s", programs[i]);
        cr_assert(none.inclusive < 1e-9, "%s", programs[i]);
    }
}
