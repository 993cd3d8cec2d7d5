/* Programs without probes below `dwell record`: a build's tools, shells, and what hosts libraries that have some. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_plain, .timeout = 300, .init = without_os_calls);

/* A process sees its threads and its mappings as without dwell. */
Test(e2e_plain, no_thread_and_no_part_of_the_session)
{
    struct ran r = run("$DWELL record sh -c 'ls /proc/self/task | wc -l; "
                       "awk \"/dwell.data/ { n++ } END { print n + 0 }\" /proc/self/maps'");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(eq(str, r.out, "1\n0\n"));
    cr_assert(has(r.err, "no events were recorded: it has no instrumented functions; compile it with dwell cc, or "
                         "with -g -finstrument-functions\n"),
              "%s", r.err);
    ran_drop(&r);
    char *info = run_well("$DWELL info");
    cr_assert(not(has(info, "PARENT")), "%s", info);
    free(info);
    char *report = run_well("$DWELL report");
    cr_assert(has(report, "\n! no calls were recorded; a program has probes if dwell cc compiles it\n"), "%s", report);
    free(report);
}

/* By hand, the first process makes the session, so that the others share one. */
Test(e2e_plain, by_hand)
{
    free(run_well(
        "DWELL_OUTPUT=$PWD/hand.data LD_PRELOAD=$RUNTIME sh -c '$SAMPLES/fib 5; sh -c \"ls /proc/self/task >tasks\"; "
        "$SAMPLES/fib 6'; test $(wc -l <tasks) = 1 && test ! -e hand.data.old"));
    struct report *r = report_of("hand.data");
    cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), 2));
    report_drop(r);
}

Test(e2e_plain, samples_of_its_use_of_the_machine)
{
    free(run_well("$DWELL record -q --monitor=10ms sleep 0.1 2>/dev/null"));
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "sleep 0.1\n"), "%s", info);
    free(info);
}

Test(e2e_plain, a_library_with_probes)
{
    static const char *const modes[] = { "trace", "profile", "ring=1M" };
    for (int i = 0; i < 3; i++) {
        char *out =
            run_well("$DWELL record -q --mode %s $PROGRAMS/loading/late $PROGRAMS/loading/libloading-a.so", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 2);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        free(out);
    }
}

/* Only the first process is recorded. It executes a program with probes in its own place, and another one in a child.
 */
Test(e2e_plain, it_executes_a_program_with_probes)
{
    free(run_well("$DWELL record -q $PROGRAMS/processes/processes-plain $SAMPLES/fib 5"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), 2));
    report_drop(r);
    free(run_well("$DWELL record -q --no-follow $PROGRAMS/processes/processes-plain $SAMPLES/fib 5"));
    r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), 1));
    report_drop(r);
}

/* valgrind ends a program that makes a thread of the helper's kind. */
Test(e2e_plain, valgrind)
{
    struct ran has_it = run("command -v valgrind");
    const bool there = has_it.status == 0;
    ran_drop(&has_it);
    if (!there)
        cr_skip_test("there is no valgrind here");
    struct ran r = run("$DWELL record -q valgrind -q --error-exitcode=9 true");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(not(has(r.err, "Unsupported clone")), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL record -q valgrind -q $SAMPLES/fib 10");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(not(has(r.err, "Unsupported clone")), "%s", r.err);
    ran_drop(&r);
    struct report *report = report_of("");
    cr_assert(eq(u64, report_sum(report, "function", "fib", "calls"), 177));
    report_drop(report);
}
