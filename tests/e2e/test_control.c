/* Control of a recording from the program by dwell.h, and from outside by `dwell control`: start, stop, pause, resume,
 * marks, names and dumps. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/event_bytes.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_control, .timeout = 300);

static const char *const modes[] = { "trace", "ring=1G", "profile" };
enum { MODES = sizeof modes / sizeof *modes };

/* The report has the program's own counts, the program found no error, and times add up. */
static void control_check(const char *environment, const char *mode, const char *options, const char *name)
{
    char *out = run_well("%s $DWELL record -q --mode %s %s $PROGRAMS/control/%s", environment, mode, options, name);
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

static void control_check_all(const char *name)
{
    for (int i = 0; i < MODES; i++) {
        control_check("", modes[i], "", name);
        control_check("DWELL_CLOCK=monotonic DWELL_HELPER=off", modes[i], "", name); /* every event by the slow path */
    }
}

Test(e2e_control, pauses_of_thread_process_and_session_nest)
{
    control_check_all("control levels");
}

Test(e2e_control, in_a_program_that_is_not_position_independent)
{
    control_check_all("control-pie levels");
}

Test(e2e_control, a_recording_that_continues_at_another_depth_of_the_stack)
{
    control_check_all("control stacks");
    for (int i = 0; i < MODES; i++) {
        free(run_well("$DWELL record -q --mode %s $PROGRAMS/control/control stacks", modes[i]));
        char *deepest = run_well("$DWELL tree --min 0 --depth 999 --format csv | tr -d '\\r' | "
                                 "awk -F, '$3 == \"leaf\" { print $1, $5 }' | sort -n");
        cr_assert(eq(str, deepest, "1 1\n42 2\n"), "%s", modes[i]);
        free(deepest);
    }
}

Test(e2e_control, threads_that_sleep_during_changes)
{
    control_check_all("control others");
}

Test(e2e_control, children_inherit_the_state)
{
    control_check_all("control family");
}

Test(e2e_control, a_hundred_thousand_pauses_cost_little_space)
{
    control_check_all("control often");
    free(run_well("$DWELL record -q $PROGRAMS/control/control often"));
    cr_assert(
        lt(u64, event_bytes("dwell.data"), 100000 * (8 + 8 + 12 + 8) + (1 << 20))); /* a call, PAUSE, RESUME, TIME */
}

Test(e2e_control, paused_from_the_start)
{
    for (int i = 0; i < MODES; i++)
        control_check("", modes[i], "--paused", "control started");
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

Test(e2e_control, with_a_runtime_that_lacks_functions)
{
    char *out = run_well("for i in control control-pie; do LD_PRELOAD=$PROGRAMS/control/libolder_runtime.so "
                         "$PROGRAMS/control/$i older; done");
    cr_assert(eq(str, out, ""));
    free(out);
}

Test(e2e_control, marks)
{
    control_check("", "trace", "", "control marks");
    control_check("", "ring=1G", "", "control marks");
    struct ran r = run("$DWELL record -q --mode profile $PROGRAMS/control/control marks");
    cr_assert(has(r.out, "wrong: mark is 9, not 0")); /* it records nothing that has a time */
    ran_drop(&r);
}

Test(e2e_control, a_dump_holds_what_was_recorded_until_then)
{
    for (int i = 0; i < MODES; i++) {
        free(run_well("rm -f dumped.data"));
        control_check("", modes[i], "", "control dump");
        struct report *r = report_of("dumped.data");
        cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 5), "%s", modes[i]);
        cr_assert(eq(u64, report_sum(r, "function", "middle", "calls"), 1), "%s", modes[i]);
        report_drop(r);
    }
}

/* One of them writes. The others fail, or write after it. */
Test(e2e_control, dumps_to_one_file_at_once)
{
    for (int i = 0; i < MODES; i++) {
        free(run_well("rm -f dumped.data"));
        control_check("", modes[i], "", "control dumps");
        struct report *r = report_of("dumped.data");
        cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 20000), "%s", modes[i]);
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

/* Runs a program that takes commands, and `dwell control` beside it. `script` has `run N` and `control ...`. */
static char *control_serve(const char *mode, const char *script)
{
    return run_well("mkfifo in out; $DWELL record -q --mode %s $PROGRAMS/control/served < in > out & recorder=$!\n"
                    "exec 3> in 4< out; read pid <&4\n"
                    "run() { echo \"run $1\" >&3; read answer <&4; }\n"
                    "control() { $DWELL control $pid \"$@\" 2>&1; echo \"status $?\"; }\n"
                    "%s\nexec 3>&-; wait $recorder; rm in out",
                    mode, script);
}

static void control_expect_checksums(const char *session)
{
    char *line = run_well("$DWELL info %s | sed -n 's/^checksums  *//p'", session);
    cr_assert(eq(str, line, "all chunks are whole\n"), "%s", session);
    free(line);
}

Test(e2e_control, control_from_outside)
{
    for (int i = 0; i < MODES; i++) {
        char *out =
            control_serve(modes[i], "run 10; control pause; run 100; control pause; control resume; run 20; "
                                    "control dump -o early.data; run 40; control stop; run 200; control resume");
        cr_assert(has(out, "status 0\nstatus 0\nstatus 0\ndwell: dumped to early.data; see: dwell report "
                           "early.data\nstatus 0\nstatus 0\n"),
                  "%s", out);
        cr_assert(has(out, "refused: its recording was stopped permanently\nstatus 2\n"), "%s", out);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 70), "%s", modes[i]);
        cr_assert(eq(u64, report_sum(r, "function", "run", "calls"), 3), "%s", modes[i]);
        report_drop(r);
        r = report_of("early.data");
        cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 30), "%s", modes[i]);
        cr_assert(gt(u64, report_sum(r, "function", "main", "elapsed_inclusive_ns"), 0));
        report_drop(r);
        control_expect_checksums("early.data");
        free(out);
    }
}

Test(e2e_control, a_dump_on_a_signal)
{
    for (int i = 0; i < MODES; i++) {
        char *out =
            run_well("mkfifo in out; $DWELL record -q --mode %s --dump-on USR2 $PROGRAMS/control/served < in > out & "
                     "recorder=$!\nexec 3> in 4< out; read pid <&4\n"
                     "echo run 30 >&3; read answer <&4; kill -USR2 $pid\n"
                     "until $DWELL info dwell.data.dump 2>&1 | grep -q ^mode; do sleep 0.02; done\n"
                     "echo run 40 >&3; read answer <&4; exec 3>&-; wait $recorder; rm in out",
                     modes[i]);
        struct report *r = report_of("dwell.data.dump");
        cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 30), "%s", modes[i]);
        report_drop(r);
        r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 70), "%s", modes[i]);
        report_drop(r);
        free(out);
        control_expect_checksums("dwell.data.dump");
        free(run_well("rm dwell.data.dump"));
    }
    struct ran r = run("$DWELL record --dump-on KILL $SAMPLES/fib 5");
    cr_assert(eq(str, r.err, "dwell: --dump-on: 'KILL' is not a signal that a program can receive\n"));
    ran_drop(&r);
}

Test(e2e_control, control_of_a_whole_session_and_of_a_renamed_one)
{
    char *out =
        control_serve("trace", "run 10; $DWELL control dwell.data pause; echo status $?; run 100; mv dwell.data away; "
                               "$DWELL control away resume; run 20; control pause; run 100; mv away dwell.data");
    cr_assert(eq(str, out, "status 0\nstatus 0\n"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 30));
    report_drop(r);
    free(out);
}

Test(e2e_control, mistakes_from_outside)
{
    static const struct {
        const char *arguments, *message;
    } cases[] = {
        { "",
          "dwell: control: give a PID or a session file, then pause, resume, stop, dump, event, level, keep or values; see dwell control --help\n" },
        { "1 jump",
          "dwell: control: 'jump' is none of pause, resume, stop, dump, event, level, keep, values; did you mean 'dump'?\n" },
        { "abc pause", "dwell: abc: No such file or directory\n" },
        { "4194304 pause", "dwell: no process 4194304\n" }, /* PIDs are smaller */
        { "$$ pause", "is not being recorded" },
        { "none.data pause", "dwell: none.data: No such file or directory\n" },
        { "./dwell.data stop",
          "dwell: control: stop, dump, level, keep and values take a PID; a session file takes pause, resume and event\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ran r = run("$DWELL control %s", cases[i].arguments);
        cr_assert(eq(int, r.status, 2), "%s", cases[i].arguments);
        cr_assert(has(r.err, cases[i].message), "%s: %s", cases[i].arguments, r.err);
        ran_drop(&r);
    }
}

Test(e2e_control, marks_are_listed)
{
    free(run_well("$DWELL record -q $PROGRAMS/control/control marks"));
    char *marks = run_well("$DWELL marks --format csv | tr -d '\\r' | cut -d, -f3,6-8");
    cr_assert(has(marks, "number,thread,function,text\n1,worker bee,,\n4,worker bee,,then\n"
                         "2,worker bee,,\"two; \"\"quoted\"\" \xc3\xa9\"\n3,worker bee,,xxxx"),
              "%s", marks);
    free(marks);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, " an_all_too_long_name_for_a_proc\n"), "%s", info);
    free(info);
}
