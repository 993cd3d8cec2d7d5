/* Calls of probes that lie across cache lines come to counted and back while threads run them. All counts are exact. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/counted.h"
#include "support/run.h"
#include "support/scenario.h"

/* The program waits for a level of all functions. */
static void across_init(void)
{
    without_os_calls();
    unsetenv("DWELL_RANDOM_LEVELS");
}

TestSuite(e2e_counted_across_lines, .timeout = 300, .init = across_init);

enum { FUNCTIONS = 100 };

/* `dwell control` sets the level that the program has asked for last. Returns what the program has printed. */
static char *across_run(const char *mode, const char *options, const char *arguments)
{
    if (access(DWELL_PROGRAMS "/levels/across", X_OK) != 0)
        cr_skip_test("only on x86-64");
    return run_well("rm -f pid out; $DWELL record -q --mode %s %s sh -c "
                    "'echo $$ >pid; exec $PROGRAMS/levels/across %s' >out & recorder=$!\n"
                    "while kill -0 $recorder 2>/dev/null; do\n"
                    "level=$(sed -n '$s/^want //p' out)\n"
                    "[ -z \"$level\" ] || $DWELL control $(cat pid) level $level='hot_*' >/dev/null 2>&1\n"
                    "sleep 0.01; done; wait $recorder && cat out",
                    mode, options, arguments);
}

static void across_check(const char *mode, const char *options, const char *arguments, int lives)
{
    static const char *const counted = "\ncounted: 64 lead to stubs that count, 0 to the probe\n";
    static const char *const timed = "\ntimed: 0 lead to stubs that count, 100 to the probe\n";
    char *out = across_run(mode, options, arguments);
    const char *at = out;
    for (int i = 0; i < lives; i++) {
        cr_assert(ne(ptr, (void *)(at = strstr(at, strchr(counted, 'c'))), NULL), "%s: %s", mode, out);
        cr_assert(ne(ptr, (void *)(at = strstr(at, timed)), NULL), "%s: %s", mode, out);
        cr_assert(ne(ptr, (void *)(at = strstr(at, counted)), NULL), "%s: %s", mode, out);
        at++;
    }
    struct report *r = report_of("");
    for (int i = 0; i < FUNCTIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "hot_%d", i);
        const uint64_t calls = truth(out, name), recorded = report_sum(r, "function", name, "calls");
        cr_assert(gt(u64, calls, 0));
        cr_assert(eq(u64, recorded, calls), "%s, %s: %s", mode, arguments, name);
        cr_assert(gt(u64, report_sum(r, "function", name, "timed_calls"), 0), "%s, %s: %s", mode, arguments, name);
    }
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    r = report_of("--by thread");
    check_sums(r, "thread");
    report_drop(r);
    free(out);
}

Test(e2e_counted_across_lines, while_threads_run_them)
{
    for (int i = 0; i < 3; i++)
        across_check(counted_modes[i], "", "8 2000", 1);
}

/* They have stubs that they can leave again, though no thread runs them at first. */
Test(e2e_counted_across_lines, from_the_programs_begin)
{
    for (int i = 0; i < 3; i++)
        across_check(counted_modes[i], "--level 'counted=hot_*'", "4 2000", 1);
}

Test(e2e_counted_across_lines, in_a_library_that_comes_and_goes)
{
    for (int i = 0; i < 3; i++)
        across_check(counted_modes[i], i == 1 ? "--level 'counted=hot_*'" : "",
                     "4 2000 $PROGRAMS/levels/across-library.so", 2);
}
