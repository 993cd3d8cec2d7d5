/* Comparisons of recordings. Numbers of calls are exact, so a gate on them fails if and only if they change. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_diff, .timeout = 300);

static void diff_expect(const char *arguments, int status, const char *message)
{
    struct ran r = run("$DWELL diff %s", arguments);
    cr_assert(eq(int, r.status, status), "dwell diff %s: %s", arguments, r.err);
    cr_assert(eq(str, r.err, (char *)message), "dwell diff %s", arguments);
    ran_drop(&r);
}

Test(e2e_diff, calls_are_gated_exactly)
{
    free(run_well("for i in 1 2; do $DWELL record -q -o before-$i $SAMPLES/fib 20 && $DWELL record -q -o after-$i "
                  "$SAMPLES/fib 21 || "
                  "exit 1; done"));
    diff_expect("before-1 before-2 --fail-if 'calls > +0' --fail-if 'calls < -0'", 0, "");
    diff_expect("before-1 after-1 --fail-if 'calls > +13530'", 0, "");
    diff_expect("before-1 after-1 --fail-if 'calls > +13529'", 1,
                "dwell: --fail-if 'calls > +13529': 1 function\n  fib (fib): 21891 -> 35421 (+61.81 %)\n");
    diff_expect("after-1 before-1 --fail-if 'calls < -38.1%'", 1,
                "dwell: --fail-if 'calls < -38.1%': 1 function\n  fib (fib): 35421 -> 21891 (-38.20 %)\n");
    diff_expect("before-* -- after-* --fail-if 'calls > +0'", 1,
                "dwell: --fail-if 'calls > +0': 1 function\n  fib (fib): 21891 -> 35421 (+61.81 %)\n");
}

Test(e2e_diff, another_build_with_another_name)
{
    free(run_well(
        "cp $SAMPLES/fib old-fib; $DWELL record -q -o before ./old-fib 15; $DWELL record -q -o after $SAMPLES/fib 15"));
    char *csv = run_well("$DWELL diff before after --by path --format csv | cut -d, -f2,5,8 | LC_ALL=C sort -u");
    cr_assert(eq(str, csv, "both,old-fib,0\nin,module,calls_change\n"));
    free(csv);
}
