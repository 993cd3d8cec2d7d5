/* Filters that hold calls back, and programs that fork in such calls. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_filters_fork, .timeout = 300, .init = without_os_calls);

/* Calls that are open at a fork count once, whether or not the runtime sees the fork. */
static void filters_check_split(const char *options, const char *how, const char *wanted)
{
    free(run_well("$DWELL record -q %s $PROGRAMS/filters/split %s", options, how));
    char *paths = report_paths("");
    cr_expect(eq(str, paths, (char *)wanted), "%s %s", options, how);
    free(paths);
    struct report *r = report_of("--by process");
    cr_expect(eq(u64, report_session(r, "lost_events"), 0));
    check_sums(r, "process");
    report_drop(r);
}

#define SERVED "main 1\nmain/serve 3\nmain/serve/rest 3\nmain/serve/serve 1\nmain/serve/serve/rest 1\n"
#define SPLIT                                                                                                          \
    "main 1\nmain/serve 3\nmain/serve/rest 3\nmain/serve/serve 1\nmain/serve/serve/rest 1\n"                           \
    "main/serve/serve/split 1\nmain/serve/split 3\n"

Test(e2e_filters_fork, calls_that_wait_at_a_fork)
{
    filters_check_split("--min 15ms --suppress split --suppress join", "", SERVED);
    filters_check_split("--min 15ms --suppress split --suppress join --call-sites --os-events none", "bare", SERVED);
    filters_check_split("--callers-of rest", "", SPLIT);
    filters_check_split("--callers-of rest --mode ring=1G --call-sites", "", SPLIT);
}

Test(e2e_filters_fork, calls_that_wait_at_a_fork_of_a_bare_system_call)
{
    filters_check_split("--callers-of rest", "bare",
                        "main 0\nmain/serve 0\nmain/serve/rest 3\nmain/serve/serve 0\nmain/serve/serve/rest 1\n");
    filters_check_split("--callers-of rest --callers-of join", "bare",
                        "main 1\nmain/serve 3\nmain/serve/join 3\nmain/serve/rest 3\nmain/serve/serve 1\n"
                        "main/serve/serve/join 1\nmain/serve/serve/rest 1\n");
}
