/*
 * Frames that end without returning, by both compilers, at all optimisation levels. Each variant has the same calls and
 * paths, which tests/golden holds.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_frames, .timeout = 300, .init = without_os_calls);

static const char *const modes[] = { "trace", "profile", "ring=1G" };

/* Shows names of C++ functions completely, and leaves out the C++ library's functions. */
static char *frames_paths(void)
{
    return run_well("$DWELL tree --min 0 --depth 999 --format csv | tr -d '\\r' | "
                    "awk -F, 'NR > 1 { sub(\"\\\\(anonymous namespace\\\\)::\", \"\", $3); "
                    "p[$1] = $1 > 1 ? p[$1 - 1] \"/\" $3 : $3; print p[$1], $5 }' | LC_ALL=C sort | grep -v std::");
}

static void frames_check(const char *program, int status)
{
    char *wanted = run_well("cat %s/frames-%s.txt", DWELL_GOLDEN, program);
    char *list = run_well("cd $PROGRAMS/frames; for i in %s-*; do test -f $i && test -x $i && echo $i; done", program);
    int variants = 0;
    for (char *name = strtok(list, "\n"); name; name = strtok(NULL, "\n"), variants++) {
        for (int i = 0; i < 3; i++) {
            struct ran r = run("$DWELL record -q --mode %s $PROGRAMS/frames/%s", modes[i], name);
            cr_assert(eq(int, r.status, status), "%s", name);
            char *got = frames_paths();
            cr_assert(eq(str, got, wanted), "%s, mode %s", name, modes[i]);
            free(got);
            ran_drop(&r);
        }
        struct report *r = report_of("");
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        check_sums(r, "function");
        report_drop(r);
    }
    cr_assert(ge(int, variants, 16), "both compilers' variants"); /* scripts/setup installs clang */
    free(list);
    free(wanted);
}

Test(e2e_frames, frames_left_by_exceptions)
{
    frames_check("exceptions", 0);
}

Test(e2e_frames, cancelled_threads_exits_and_unusual_frames)
{
    frames_check("leaving", 7);
}
