/* A recorded program that inspects itself sees exactly what it sees without dwell. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_invisible, .timeout = 300);

#define PARTS "$PROGRAMS/invisible/invisible-"

/* Every way in which the runtime can work. */
static const char *const settings[] = {
    "$DWELL record -q --os-events=perf",
    "$DWELL record -q --os-events=rseq",
    "$DWELL record -q --os-events=none",
    "DWELL_HELPER=off $DWELL record -q",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Compares the program's output and how it ended. Returns a copy of the output, which the caller frees. */
static char *invisible_compare(const char *setting, const char *command)
{
    struct ran alone = run("unset DWELL_OVERHEAD; %s", command), recorded = run("%s %s", setting, command);
    cr_assert(eq(int, alone.status, 0), "%s", command);
    cr_assert(eq(int, recorded.status, 0), "%s %s", setting, command);
    cr_assert(eq(str, recorded.out, alone.out), "%s %s", setting, command);
    cr_assert(eq(str, recorded.err, alone.err), "%s %s", setting, command);
    char *out = strdup(recorded.out);
    ran_drop(&alone);
    ran_drop(&recorded);
    return out;
}

static void check_nothing_lost(void)
{
    struct report *r = report_of("");
    cr_assert(gt(u64, report_session(r, "events"), 0));
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
}

Test(e2e_invisible, errno_signals_memory_and_environment)
{
    for (int i = 0; i < SETTINGS; i++) {
        char *out = invisible_compare(settings[i], "env -u DWELL_HELPER LD_PRELOAD=libm.so.6 " PARTS "state");
        cr_assert(has(out, "\nrequests for memory 0, "), "%s", out);
        cr_assert(has(out, "\nerrno wrong 0 times, mask 0 times\n"), "%s", out);
        cr_assert(has(out, "LD_PRELOAD libm.so.6, \n"), "%s", out);
        free(out);
        check_nothing_lost();
    }
}

Test(e2e_invisible, environment_while_shells_run)
{
    free(invisible_compare(settings[0], PARTS "shells"));
    check_nothing_lost();
}

Test(e2e_invisible, registers)
{
    for (int i = 0; i < SETTINGS; i++) {
        char *out = invisible_compare(settings[i], PARTS "registers");
        cr_assert(has(out, "wrong 0\n"));
        free(out);
        check_nothing_lost();
    }
}

/* Without its helper, the runtime opens files in the program's own descriptor table. */
Test(e2e_invisible, descriptors)
{
    for (int i = 0; i < SETTINGS - 1; i++) {
        char *out = invisible_compare(settings[i], PARTS "descriptors");
        cr_assert(has(out, "another 0 times, looked at often\n"), "%s", out);
        free(out);
        check_nothing_lost();
        out = invisible_compare(settings[i], PARTS "descriptors < /dev/null 2>&-");
        free(out);
    }
}

static uint64_t steps_recorded(void)
{
    struct report *r = report_of("");
    const uint64_t calls = report_sum(r, "function", "step", "calls");
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    return calls;
}

/* With the preloaded library, and in programs that contain it. */
static void check_privileges(const char *way, uint64_t more)
{
    static const char *const programs[] = { "privileges", "privileges-dwell", "privileges-static" };
    for (int i = 0; i < 3; i++) {
        char command[128];
        snprintf(command, sizeof command, PARTS "%s %s", programs[i], way);
        char *out = invisible_compare(settings[0], command);
        cr_assert(has(out, "\n0 threads have other rights\n"), "%s: %s", command, out);
        cr_assert(eq(u64, steps_recorded(), truth(out, "step") + more), "%s: %s", command, out);
        free(out);
    }
}

/* Skips the test if the command fails. */
static void invisible_need(const char *what, const char *probe)
{
    struct ran r = run("%s", probe);
    const bool can = r.status == 0;
    ran_drop(&r);
    if (!can)
        cr_skip_test("this machine gives no %s", what);
}

Test(e2e_invisible, changes_of_identity)
{
    invisible_need("change of identity", "setpriv --reuid 65534 --regid 65534 --clear-groups true");
    check_privileges("identities", 0);
    check_privileges("child", 400000);
}

Test(e2e_invisible, changes_of_capabilities)
{
    check_privileges("capabilities", 0);
}

Test(e2e_invisible, namespaces)
{
    invisible_need("user namespaces", "unshare -U true");
    check_privileges("user-namespace", 0);
    check_privileges("another-namespace", 0);
    check_privileges("process-namespace", 400000);
}
