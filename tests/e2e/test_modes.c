/* record --mode: profile and ring keep what trace keeps, summed up or limited to the end. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_modes, .timeout = 300);

static void modes_record(const char *mode, const char *command)
{
    free(run_well("$DWELL record -q --mode %s %s", mode, command));
}

/* Deterministic programs: the same paths, with the same calls. */
Test(e2e_modes, profile_has_the_calls_and_paths_of_trace)
{
    static const char *const programs[] = {
        "$SAMPLES/fib 20",
        "$SAMPLES/threads 8 5000",
        "$SAMPLES/threads --waves 100 4 10",
        "$SAMPLES/processes 10",
        "$SAMPLES/cplusplus",
        "$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 500",
        "$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 100 20",
        "$PROGRAMS/jumps-O0",
        "$PROGRAMS/jumps-O2",
        "$PROGRAMS/jumps-Os",
        "$PROGRAMS/deep 900",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        modes_record("trace", programs[i]);
        char *trace = report_paths("");
        char *left = run_well("$DWELL info | grep -o '[0-9]* frames left'");
        modes_record("profile", programs[i]);
        char *profile = report_paths("");
        char *profile_left = run_well("$DWELL info | grep -o '[0-9]* frames left'");
        cr_assert(eq(str, profile, trace), "%s", programs[i]);
        cr_assert(eq(str, profile_left, left), "%s", programs[i]);
        struct report *r = report_of("--by process");
        check_sums(r, "process");
        report_drop(r);
        free(trace);
        free(profile);
        free(left);
        free(profile_left);
    }
}

Test(e2e_modes, profile_of_a_recursion_a_million_deep)
{
    char *out = run_well("$DWELL record -q --mode profile $PROGRAMS/deep 1000000");
    struct report *r = report_of("");
    check_counts(out, r, 2);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
}

static void check_timers(const char *options)
{
    free(run_well("for i in 0 1 2 3 4 5; do $DWELL record -q %s -o timer$i $PROGRAMS/timer %d > out$i & done; wait",
                  options, test_rounds(1500000)));
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "timer%d", i);
        char *out = run_well("cat out%d", i);
        struct report *r = report_of(name);
        check_counts(out, r, 4);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        free(out);
        out = run_well(INFO_WITHOUT_CPU_REMARKS_OF("%s"), name);
        cr_assert(has(out, " 0 frames left without one"), "%s", options);
        cr_assert(not(has(out, "\nremark")), "%s: %s", options, out);
        free(out);
    }
}

Test(e2e_modes, signals_in_the_middle_of_the_probes_of_profile)
{
    check_timers("--mode profile");
}

Test(e2e_modes, signals_in_the_middle_of_the_probes_of_ring)
{
    check_timers("--mode ring=1G");
}

Test(e2e_modes, signals_in_the_middle_of_the_probes_of_filters)
{
    check_timers("--suppress set_timer");
    check_timers("--min 0ns --depth 100");
}

Test(e2e_modes, signals_in_the_middle_of_the_probes_of_call_sites)
{
    check_timers("--call-sites");
    check_timers("--call-sites --mode profile");
    check_timers("--call-sites --mode ring=1G");
    check_timers("--call-sites --suppress set_timer");
}

/* Handlers that pause and resume, in the middle of other probes. */
Test(e2e_modes, signals_that_pause)
{
    static const char *const modes[] = { "trace", "profile", "ring=1G", "trace --call-sites", "profile --call-sites" };
    for (int i = 0; i < 5; i++) {
        char *out = run_well("$DWELL record -q --mode %s $PROGRAMS/control/pauser 400000", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 3);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        free(out);
        out = run_well("$DWELL info");
        cr_assert(has(out, " 0 frames left without one"), "%s: %s", modes[i], out);
        free(out);
    }
}

Test(e2e_modes, ring_keeps_the_end)
{
    modes_record("ring=64K", "$SAMPLES/fib 24");
    char *size = run_well("du -k dwell.data | cut -f1");
    cr_assert(lt(int, atoi(size), 700));
    free(size);
    struct report *r = report_of("");
    const uint64_t calls = report_sum(r, "function", "fib", "calls");
    cr_assert(gt(u64, calls, 64 * 1024 / 2 / 8)); /* half of the ring at least */
    cr_assert(lt(u64, calls, 64 * 1024 / 8 * 2));
    cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), 0)); /* it began long ago, and is open all the time */
    cr_assert(gt(u64, report_sum(r, "function", "main", "elapsed_inclusive_ns"), 0));
    check_sums(r, "function");
    report_drop(r);
    char *paths = run_well("$DWELL tree --min 0 --depth 2 --format csv | cut -d, -f1,3 | grep '^[12],' | tr -d '\\r'");
    cr_assert(eq(str, paths, "1,main\n2,fib\n"));
    free(paths);
}

Test(e2e_modes, ring_of_many_threads_stays_small)
{
    modes_record("ring=64K", "$SAMPLES/threads --waves 200 4 5000");
    char *size = run_well("du -k dwell.data | cut -f1");
    cr_assert(lt(int, atoi(size), 4000));
    free(size);
    struct report *r = report_of("");
    cr_assert(gt(u64, report_sum(r, "function", "work", "calls"), 5000));
    report_drop(r);
}

Test(e2e_modes, each_mode_after_a_crash)
{
    static const char *const modes[] = { "profile", "ring=1G" };
    static const char *const ways[] = { "segv", "abort", "kill", "exit", "_exit", "quick_exit", "pthread_exit" };
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < sizeof ways / sizeof *ways; j++) {
            struct ran r = run("exec $DWELL record -q --mode %s $SAMPLES/crash %s 1000", modes[i], ways[j]);
            struct report *report = report_of("");
            check_counts(r.out, report, 2);
            cr_assert(gt(u64, report_sum(report, "function", "main", "elapsed_inclusive_ns"), 0));
            report_drop(report);
            ran_drop(&r);
        }
    }
}

Test(e2e_modes, without_a_recorder)
{
    char *out = run_well("DWELL_MODE=profile DWELL_OUTPUT=plain.data LD_PRELOAD=$RUNTIME $SAMPLES/threads 4 10000");
    struct report *r = report_of("plain.data");
    check_counts(out, r, 4);
    report_drop(r);
    free(out);
    out = run_well("$DWELL info plain.data");
    cr_assert(has(out, "\nmode            profile\n"));
    free(out);
    free(run_well("DWELL_MODE=ring=100000 DWELL_OUTPUT=ring.data LD_PRELOAD=$RUNTIME $SAMPLES/fib 20"));
    out = run_well("$DWELL info ring.data");
    cr_assert(has(out, "\nmode            ring, of 100000 bytes for each thread\n"));
    free(out);
}

Test(e2e_modes, the_other_clock_and_no_helper)
{
    static const char *const modes[] = { "profile", "ring=1G", "trace --depth 99" };
    for (int i = 0; i < 3; i++) {
        char *out = run_well(
            "DWELL_CLOCK=monotonic DWELL_HELPER=off $DWELL record -q --mode %s $SAMPLES/threads 4 3000", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 4);
        report_drop(r);
        free(out);
    }
}

Test(e2e_modes, mistakes)
{
    static const struct {
        const char *mode, *message;
    } cases[] = {
        { "sum", "dwell: --mode: 'sum' is none of trace, profile, ring, ring=SIZE\n" },
        { "ring=1", "dwell: --mode ring: '1' is not a number of bytes from 64K to 1G\n" },
        { "ring=2G", "dwell: --mode ring: '2G' is not a number of bytes from 64K to 1G\n" },
        { "ring=64KB", "dwell: --mode ring: '64KB' is not a number of bytes from 64K to 1G\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ran r = run("$DWELL record --mode %s $SAMPLES/fib 5", cases[i].mode);
        cr_assert(eq(int, r.status, 125));
        cr_assert(eq(str, r.err, (char *)cases[i].message));
        ran_drop(&r);
    }
}

/* The report says which signal ended the program, unless it is about a part of the session. */
/* A grandchild that is killed at once can be gone before a busy machine lets dwell look at it: one of some recordings
 * has its end. */
Test(e2e_modes, the_report_says_how_the_program_ended)
{
    char *text =
        run_well("ending() { $DWELL report \"$@\" | head -n 1 | grep -o '[0-9]* threads*[^:]*' | head -n 1; }\n"
                 "for way in segv abort kill exit; do\n"
                 "  $DWELL record -q $SAMPLES/crash $way >out 2>&1 || :; ending\n"
                 "done\n"
                 "for try in $(seq 20); do\n"
                 "  $DWELL record -q sh -c '$SAMPLES/crash kill; $SAMPLES/crash segv; exit 0' >out 2>&1\n"
                 "  ending >ended; ! grep -q '2 of them' ended || break\n"
                 "done\n"
                 "cat ended; ending --from 1ns\n");
    cr_assert(eq(str, text,
                 "1 thread, ended by signal 11 (SEGV)\n1 thread, ended by signal 6 (ABRT)\n"
                 "1 thread, ended by signal 9 (KILL)\n1 thread\n"
                 "2 threads of 2 processes, 2 of them ended by signals\n2 threads of 2 processes\n"));
    free(text);
}

/* While the program runs, or if the recorder was killed with it, nobody knows how it ends. */
Test(e2e_modes, the_report_says_that_the_end_is_not_known)
{
    char *text =
        run_well("said() { $DWELL report | grep -o '1 thread[^:]*' | head -n 1; $DWELL info | grep '^state'; }\n"
                 "$DWELL record -q $PROGRAMS/killed counters 0 >out 2>&1 & recorder=$!\n"
                 "pid() { od -A n -t d8 -N 8 counters 2>/dev/null || echo 0; }\n"
                 "until [ $(pid) -gt 0 ] && $DWELL report 2>&1 | grep -q '1 thread'; do sleep 0.05; done; said\n"
                 "kill -KILL $recorder; wait $recorder || true\n"
                 "kill -KILL $(pid)\n"
                 "until $DWELL info | grep -q killed; do sleep 0.05; done; said\n");
    cr_assert(eq(str, text,
                 "1 thread, still recording\nstate           not finished: still recording\n"
                 "1 thread, the end was not recorded\n"
                 "state           not finished: there is no recorder, or it was killed\n"));
    free(text);
}

/* Where no call was left, there are no times, rather than times of zero. */
Test(e2e_modes, calls_that_a_crash_has_cut)
{
    char *text =
        run_well("$DWELL record -q $SAMPLES/crash segv 1 >out 2>&1 || :; $DWELL histogram descend; "
                 "$DWELL slowest descend | sed 1d; $DWELL slowest descend --format json | grep -c no-completed");
    static const char remark[] =
        "! no call was both entered and left while recording; dwell replay shows those that were open at the end\n\n";
    cr_assert(has(text, "descend: 0 completed calls, elapsed_inclusive:\n"), "%s", text);
    cr_assert(not(has(text, "below the resolution")), "%s", text);
    cr_assert(has(text, remark), "%s", text);
    cr_assert(has(text, "\n1\n"), "%s", text);
    free(text);
}
