/* Programs with elevated privileges that contain the runtime: they read no variable, record nothing and make no file.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_privileged, .timeout = 300);

/* All variables of the runtime that name a file, or make it do something. */
#define VARIABLES                                                                                                      \
    "DWELL_OUTPUT=$PWD/session DWELL_LOG=$PWD/log DWELL_PERFLOG=$PWD/perflog DWELL_EVENTS=all DWELL_MONITOR=10 "       \
    "DWELL_CLOCK=ordered DWELL_DUMP_ON=10 DWELL_MODE=ring"

/* Runs the program in an empty folder, as a plain one and as a privileged one. Returns the number of files that it made
 * as a privileged one. */
static int privileged_files(const char *program, int as_plain, bool same_output)
{
    char *plain = run_well("rm -rf here; mkdir here; cd here; env %s %s", VARIABLES, program);
    char *files = run_well("ls -A here | wc -l");
    cr_assert(eq(int, atoi(files), as_plain), "%s", program);
    free(files);
    char *privileged =
        run_well("rm -rf here; mkdir here; cd here; env %s $PROGRAMS/invisible/secured %s || true", VARIABLES, program);
    if (same_output)
        cr_assert(eq(str, privileged, plain), "%s", program);
    files = run_well("ls -A here | wc -l");
    const int count = atoi(files);
    free(files);
    free(plain);
    free(privileged);
    return count;
}

Test(e2e_privileged, nothing_is_recorded)
{
    static const char *const programs[] = { "$PROGRAMS/static-dwell 10", "$PROGRAMS/dynamic-dwell 10" };
    for (int i = 0; i < 2; i++)
        cr_assert(eq(int, privileged_files(programs[i], 1, true), 0), "%s", programs[i]);
}

/* As a plain program, it makes a log. One that links the shared library makes a session, too. As a privileged one,
 * its calls fail as if the log could not be opened. */
Test(e2e_privileged, nothing_is_logged)
{
    static const char *const programs[] = { "$PROGRAMS/perflog/perflog-c99-gcc",
                                            "$PROGRAMS/perflog/perflog-static all" };
    for (int i = 0; i < 2; i++)
        cr_assert(eq(int, privileged_files(programs[i], 2, false), 0), "%s", programs[i]);
}

/* A log in the working directory would follow a link that the user has put there. */
Test(e2e_privileged, no_log_in_the_working_directory)
{
    free(run_well("mkdir here; cd here; $PROGRAMS/invisible/secured $PROGRAMS/perflog/perflog-c99-gcc || true"));
    free(run_well("[ -z \"$(ls -A here)\" ]"));
    free(run_well("cd here; $PROGRAMS/perflog/perflog-c99-gcc; [ -n \"$(ls -A)\" ]"));
}
