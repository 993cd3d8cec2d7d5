/* The recorded numbers of calls equal the numbers that the program itself counted. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_counts, .timeout = 300);

static void record_and_check(const char *command, int least)
{
    char *out = run_well("$DWELL record -q %s", command);
    struct report *r = report_of("");
    check_counts(out, r, least);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
}

Test(e2e_counts, recursion)
{
    record_and_check("$SAMPLES/fib 24", 2);
}

Test(e2e_counts, one_thread)
{
    record_and_check("$SAMPLES/threads 1 100000", 4);
}

Test(e2e_counts, sixty_four_threads)
{
    record_and_check("$SAMPLES/threads 64 30000", 4);
    struct report *r = report_of("--by thread");
    cr_assert(eq(u64, report_session(r, "threads"), 65));
    report_drop(r);
}

Test(e2e_counts, threads_that_come_and_go_by_the_thousand)
{
    record_and_check("$SAMPLES/threads --waves 1000 4 100", 4);
    struct report *r = report_of("--by thread");
    cr_assert(eq(u64, report_session(r, "threads"), 4001));
    report_drop(r);
}

Test(e2e_counts, executable_library_and_plugin)
{
    record_and_check("$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 5000", 6);
    struct report *r = report_of("--by module");
    cr_assert(eq(u64, report_sum(r, "module", "libsample-plugin.so", "calls"), 5000));
    cr_assert(eq(u64, report_sum(r, "module", "libsample-library.so", "calls"), 10000));
    report_drop(r);
}

Test(e2e_counts, a_plugin_loaded_again_and_again)
{
    record_and_check("$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 100 20", 6);
}

Test(e2e_counts, a_plugin_found_by_the_programs_own_runpath)
{
    record_and_check("$SAMPLES/modules/modules libsample-plugin.so 100", 6);
}

Test(e2e_counts, forked_processes)
{
    record_and_check("$SAMPLES/processes 20", 5);
    struct report *r = report_of("--by process");
    cr_assert(eq(u64, report_session(r, "processes"), 21));
    report_drop(r);
    char *tree = run_well("$DWELL tree --min 0 --format csv");
    cr_assert(has(tree, "\r\n4,,child_work,") || has(tree, ",child_work,"));
    free(tree);
}

Test(e2e_counts, cplusplus)
{
    record_and_check("$SAMPLES/cplusplus", 9);
}

Test(e2e_counts, without_a_recorder)
{
    char *out = run_well("DWELL_OUTPUT=plain.data LD_PRELOAD=$RUNTIME $SAMPLES/threads 4 10000");
    struct report *r = report_of("plain.data");
    check_counts(out, r, 4);
    report_drop(r);
    free(out);
}

Test(e2e_counts, without_the_helper_thread)
{
    char *out = run_well("DWELL_HELPER=off $DWELL record -q -o plain.data $SAMPLES/threads 8 50000");
    struct report *r = report_of("plain.data");
    check_counts(out, r, 4);
    report_drop(r);
    free(out);
    out = run_well("DWELL_HELPER=off $DWELL record -q -o plain.data $SAMPLES/processes 5");
    r = report_of("plain.data");
    check_counts(out, r, 5);
    report_drop(r);
    free(out);
}

Test(e2e_counts, the_other_clock)
{
    /* Each event takes the slow path, with CLOCK_MONOTONIC. */
    char *out = run_well("DWELL_CLOCK=monotonic $DWELL record -q -o plain.data $SAMPLES/fib 18");
    struct report *r = report_of("plain.data");
    check_counts(out, r, 2);
    report_drop(r);
    free(out);
    out = run_well("$DWELL info plain.data");
    cr_assert(has(out, "CLOCK_MONOTONIC, 1000.000 MHz"));
    free(out);
}

/* More threads than CPUs, so that probes are preempted at every point and for long. */
Test(e2e_counts, signals_in_the_middle_of_probes)
{
    free(run_well("for i in 0 1 2 3 4 5; do $DWELL record -q -o timer$i $PROGRAMS/timer 3000000 > out$i & done; wait"));
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "timer%d", i);
        char *out = run_well("cat out%d", i);
        struct report *r = report_of(name);
        check_counts(out, r, 4);
        report_drop(r);
        free(out);
        out = run_well("$DWELL info %s", name);
        cr_assert(has(out, " 0 frames left without one"));
        free(out);
    }
}

Test(e2e_counts, frames_left_by_longjmp)
{
    static const char *const compilers[] = { "jumps-O0", "jumps-O2", "jumps-Os" };
    for (int i = 0; i < 3; i++) {
        char *out = run_well("$DWELL record -q $PROGRAMS/%s", compilers[i]);
        struct report *r = report_of("");
        check_counts(out, r, 8);
        char *tree = report_paths("");
        cr_assert(eq(str, tree,
                     "main 1\n"
                     "main/after 1100\n"
                     "main/catcher 300\n"
                     "main/catcher/after 300\n"
                     "main/catcher/recurse 300\n"
                     "main/catcher/recurse/recurse 300\n"
                     "main/catcher/recurse/recurse/recurse 300\n"
                     "main/outer 1000\n"
                     "main/outer/middle 1000\n"
                     "main/outer/middle/inner 1000\n"
                     "main/raiser 100\n"
                     "main/raiser/handler 100\n"));
        free(tree);
        report_drop(r);
        free(out);
    }
}

Test(e2e_counts, a_recursion_a_million_deep)
{
    record_and_check("$PROGRAMS/deep 1000000", 2);
}

Test(e2e_counts, the_end_of_the_program)
{
    static const struct {
        const char *way;
        int status;
    } ways[] = { { "segv", -11 }, { "abort", -6 },     { "kill", -9 },       { "exit", 0 },
                 { "_exit", 0 },  { "quick_exit", 0 }, { "pthread_exit", 0 } };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct ran alone = run("exec $SAMPLES/crash %s 1000", ways[i].way);
        struct ran r = run("exec $DWELL record -q $SAMPLES/crash %s 1000", ways[i].way);
        cr_assert(eq(int, alone.status, ways[i].status), "%s", ways[i].way);
        cr_assert(eq(int, r.status, alone.status), "%s", ways[i].way);
        cr_assert(eq(str, r.out, alone.out));
        struct report *report = report_of("");
        check_counts(r.out, report, 2);
        report_drop(report);
        ran_drop(&alone);
        ran_drop(&r);
    }
}
