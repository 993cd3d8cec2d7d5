/* dwell.h: start, stop, pause, resume, marks, names and dumps, from the program. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_control, .timeout = 120);

static const char *const modes[] = { "trace", "ring=1G", "profile" };
enum { MODES = sizeof modes / sizeof *modes };

/* The program's own counts are the report's, it has found nothing wrong, and times add up. */
static void check(const char *mode, const char *options, const char *name)
{
    char *out = run_well("$DWELL record -q --mode %s %s $PROGRAMS/control/%s", mode, options, name);
    cr_assert(not(has(out, "wrong")), "%s %s: %s", mode, name, out);
    struct report *r = report_of("");
    check_counts(out, r, 1);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    r = report_of("--by process");
    check_sums(r, "process");
    report_drop(r);
    free(out);
}

static void check_all(const char *name)
{
    for (int i = 0; i < MODES; i++)
        check(modes[i], "", name);
}

Test(e2e_control, levels)
{
    check_all("control levels");
}

Test(e2e_control, in_a_program_that_is_not_position_independent)
{
    check_all("control-pie levels");
}

Test(e2e_control, a_recording_that_goes_on_in_another_place_of_the_stack)
{
    check_all("control stacks");
    for (int i = 0; i < MODES; i++) {
        free(run_well("$DWELL record -q --mode %s $PROGRAMS/control/control stacks", modes[i]));
        char *deepest = run_well("$DWELL tree --min 0 --depth 999 --format csv | tr -d '\\r' | "
                                 "awk -F, '$3 == \"leaf\" { print $1, $5 }' | sort -n");
        cr_assert(eq(str, deepest, "1 1\n42 2\n"), "%s", modes[i]);
        free(deepest);
    }
}

Test(e2e_control, threads_that_sleep_through_it)
{
    check_all("control others");
}

Test(e2e_control, children_inherit_it)
{
    check_all("control family");
}

Test(e2e_control, a_hundred_thousand_pauses_cost_little_space)
{
    check_all("control often");
    free(run_well("$DWELL record -q $PROGRAMS/control/control often"));
    char *size = run_well("stat -c %%s dwell.data");
    cr_assert(lt(int, atoi(size), 100000 * (8 + 8 + 12 + 8) + (1 << 20))); /* a call, PAUSE, RESUME, TIME */
    free(size);
}

Test(e2e_control, paused_from_the_start)
{
    for (int i = 0; i < MODES; i++)
        check(modes[i], "--paused", "control started");
}

Test(e2e_control, without_the_runtime)
{
    char *out = run_well("$PROGRAMS/control/control alone; $PROGRAMS/control/control-pie alone");
    cr_assert(eq(str, out, ""));
    free(out);
}

Test(e2e_control, with_the_runtime_that_records_nothing)
{
    char *out = run_well("LD_PRELOAD=$RUNTIME $PROGRAMS/control/control alone");
    cr_assert(eq(str, out, ""));
    free(out);
}

Test(e2e_control, marks)
{
    check("trace", "", "control marks");
    check("ring=1G", "", "control marks");
    struct ran r = run("$DWELL record -q --mode profile $PROGRAMS/control/control marks");
    cr_assert(has(r.out, "wrong: mark is 9, not 0")); /* it keeps nothing that has a time */
    ran_drop(&r);
}

Test(e2e_control, a_dump_holds_what_was_recorded_until_then)
{
    for (int i = 0; i < MODES; i++) {
        free(run_well("rm -f dumped.data"));
        check(modes[i], "", "control dump");
        struct report *r = report_of("dumped.data");
        cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 5), "%s", modes[i]);
        cr_assert(eq(u64, report_sum(r, "function", "middle", "calls"), 1), "%s", modes[i]);
        report_drop(r);
    }
}

Test(e2e_control, a_dump_replaces_sessions_only)
{
    free(run_well("echo mine > dumped.data"));
    struct ran r = run("$DWELL record -q $PROGRAMS/control/control dump; cat dumped.data");
    cr_assert(has(r.out, "wrong: dump is 10, not 0"), "%s", r.out);
    cr_assert(has(r.out, "mine\n"));
    ran_drop(&r);
}
