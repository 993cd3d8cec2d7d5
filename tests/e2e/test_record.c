/* dwell record as its user sees it. The program must not see it at all. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_record, .timeout = 300);

/* One line on stderr that begins with "dwell: " and contains `text`. */
static void record_check_error(struct ran r, int status, const char *text)
{
    cr_assert(eq(int, r.status, status), "%s", r.err);
    cr_assert(eq(int, strncmp(r.err, "dwell: ", 7), 0), "%s", r.err);
    cr_assert(has(r.err, text), "'%s' is not in: %s", text, r.err);
    cr_assert(eq(ptr, strchr(r.err, '\n'), strrchr(r.err, '\n')), "more than one line: %s", r.err);
    ran_drop(&r);
}

Test(e2e_record, an_older_session_is_kept)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5 && cp dwell.data first && $DWELL record -q $SAMPLES/fib 6 && "
                  "cmp first dwell.data.old && ! cmp -s first dwell.data"));
}

Test(e2e_record, other_files_are_never_replaced)
{
    free(run_well("echo precious > dwell.data"));
    record_check_error(run("$DWELL record $SAMPLES/fib 5"), 125, "dwell.data: not a dwell session");
    char *kept = run_well("cat dwell.data");
    cr_assert(eq(str, kept, "precious\n"));
    free(kept);
    record_check_error(run("mkdir folder && $DWELL record -o folder $SAMPLES/fib 5"), 125, "folder: Is a directory");
    record_check_error(run("$DWELL record -o missing/file $SAMPLES/fib 5"), 125,
                       "missing/file: No such file or directory");
    record_check_error(run("$DWELL record -o /proc/self/status $SAMPLES/fib 5"), 125, "/proc/self/status: ");
}

Test(e2e_record, two_recordings_into_one_file)
{
    char *out = run_well(
        "mkfifo held; $DWELL record -q sh -c '$SAMPLES/fib 3 >begun; cat held' & while ! test -s begun; do sleep 0.02; "
        "done; $DWELL record $SAMPLES/fib 5 2>err; echo $?; cat err; echo >held; wait");
    cr_assert(has(out, "125\n") && has(out, "another recording writes to it"), "%s", out);
    free(out);
}

Test(e2e_record, programs_that_cannot_be_run)
{
    record_check_error(run("$DWELL record ./nothing"), 127, "./nothing: no such program");
    record_check_error(run("$DWELL record surely-no-such-program"), 127, "no such program");
    record_check_error(run("cp /bin/true here; $DWELL record here"), 127,
                       "here: not in PATH; write ./ before the name of a program in this folder");
    record_check_error(run("echo text > text && $DWELL record ./text"), 126, "./text: not executable");
    record_check_error(run("$DWELL record /tmp"), 126, "/tmp: not executable");
    record_check_error(run("$DWELL record"), 125, "which PROGRAM");
    record_check_error(run("$DWELL record $PROGRAMS/static"), 125, "statically linked");
    record_check_error(
        run("cp $SAMPLES/fib other && printf '\\x08' | dd of=other bs=1 seek=18 conv=notrunc status=none && "
            "$DWELL record ./other"),
        125, "another architecture");
    free(run_well("test ! -e dwell.data"));
}

Test(e2e_record, programs_that_are_not_instrumented)
{
    record_check_error(run("$DWELL record sh -c 'exit 3'"), 3,
                       "compile it with dwell cc, or with -g -finstrument-functions");
}

Test(e2e_record, static_programs_with_the_runtime_in_them)
{
    char *out = run_well("$DWELL record -q $PROGRAMS/static-dwell 20");
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "fib", "calls"), truth(out, "fib")));
    report_drop(r);
    free(out);
}

Test(e2e_record, exit_statuses_and_signals)
{
    for (int status = 0; status < 256; status += 51) {
        struct ran r = run("$DWELL record -q sh -c '$SAMPLES/fib 3 >/dev/null; exit %d'", status);
        cr_assert(eq(int, r.status, status));
        cr_assert(eq(str, r.err, ""));
        ran_drop(&r);
    }
    static const int signals[] = { 9, 11, 15, 2, 3, 13 };
    for (int i = 0; i < 6; i++) {
        struct ran r = run("exec $DWELL record -q sh -c '$SAMPLES/fib 3 >/dev/null; kill -%d $$'", signals[i]);
        cr_assert(eq(int, r.status, -signals[i]));
        ran_drop(&r);
    }
}

Test(e2e_record, a_signal_sent_to_dwell_reaches_the_program)
{
    struct ran r = run(
        "$DWELL record -q $PROGRAMS/trap & pid=$!; while ! test -e ready; do sleep 0.02; done; kill -TERM $pid; wait $pid");
    cr_assert(eq(int, r.status, 7), "%s%s", r.out, r.err);
    cr_assert(eq(str, r.out, "caught 15\n"));
    ran_drop(&r);
    free(run_well("$DWELL report"));
}

Test(e2e_record, arguments_input_and_environment)
{
    char *out = run_well("printf 'a line' | $DWELL record -q -- $PROGRAMS/mirror -o -q --help 'two words' ''");
    char *alone = run_well("printf 'a line' | $PROGRAMS/mirror -o -q --help 'two words' ''");
    cr_assert(eq(str, out, alone));
    free(out);
    free(alone);
    free(run_well(
        "env -u _ -u DWELL_OVERHEAD | sort > before; $DWELL record -q sh -c 'env -u _' 2>/dev/null | sort > after; "
        "cmp before after"));
}

Test(e2e_record, ld_preload_of_the_user_stays)
{
    char *out = run_well("LD_PRELOAD=libm.so.6 $DWELL record -q sh -c 'echo $LD_PRELOAD' 2>/dev/null");
    cr_assert(eq(str, out, "libm.so.6\n"));
    free(out);
}

Test(e2e_record, what_the_program_can_see)
{
    /* The program prints its lowest free descriptor, whether errno survives calls, its signal mask and dispositions. */
    char *alone = run_well("$PROGRAMS/visible");
    char *recorded = run_well("$DWELL record -q $PROGRAMS/visible");
    cr_assert(eq(str, recorded, alone));
    free(alone);
    free(recorded);
}

Test(e2e_record, programs_that_close_all_descriptors)
{
    char *out = run_well("$DWELL record -q $PROGRAMS/closer 200000");
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "step", "calls"), truth(out, "step")));
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
}

Test(e2e_record, executed_programs_and_scripts)
{
    free(run_well("printf '#!/bin/sh\\n$SAMPLES/fib 10\\nexec $SAMPLES/fib 11\\n' > script && chmod +x script && "
                  "$DWELL record -q ./script"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "fib", "calls"), 177 + 287));
    report_drop(r);
}

Test(e2e_record, the_closing_line)
{
    struct ran r = run("$DWELL record $SAMPLES/fib 10");
    cr_assert(has(r.err, "dwell: 356 events, 1 thread, 1 process, ") &&
                  has(r.err, " in dwell.data; see: dwell report\n"),
              "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL record -q $SAMPLES/fib 10");
    cr_assert(eq(str, r.err, ""));
    ran_drop(&r);
}

/* The program continues with its own status. Lost events are counted, and none is missing from the counts. */
static void check_loss(struct ran r, const char *file)
{
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, "events were lost: the disk is full"), "%s", r.err);
    struct report *report = report_of(file);
    uint64_t calls = report_sum(report, "function", NULL, "calls");
    cr_assert(gt(u64, calls, 1000));
    cr_assert(lt(u64, calls, truth(r.out, "fib")));
    cr_assert(eq(u64, report_session(report, "events") + report_session(report, "lost_events"),
                 2 * (truth(r.out, "fib") + 1)));
    report_drop(report);
    ran_drop(&r);
}

Test(e2e_record, a_limit_on_file_sizes)
{
    check_loss(run("sh -c 'ulimit -f 2000; $DWELL record -q $SAMPLES/fib 28'"), "");
}

Test(e2e_record, a_full_disk)
{
    struct ran mounted = run("mkdir small && mount -t tmpfs -o size=2m dwell-test small");
    if (mounted.status != 0)
        cr_skip_test("only root may mount a small disk");
    ran_drop(&mounted);
    struct ran r =
        run("$DWELL record -q --keep-free 0 -o small/x $SAMPLES/fib 28; s=$?; cp small/x x; umount small; exit $s");
    check_loss(r, "x");
}

Test(e2e_record, few_descriptors)
{
    struct ran r = run("sh -c 'ulimit -n 3; DWELL_OUTPUT=few.data LD_PRELOAD=$RUNTIME exec $SAMPLES/fib 10'");
    cr_assert(ge(int, r.status, 0)); /* the loader itself may need one more, but nothing may crash */
    ran_drop(&r);
}

Test(e2e_record, a_probe_makes_no_system_call)
{
    struct ran r = run("command -v strace && strace -f -o calls $DWELL record -q $SAMPLES/fib 24");
    if (r.status != 0)
        cr_skip_test("strace is not there, or may not trace");
    ran_drop(&r);
    /* 150,000 events. The program, its helper and the recorder together make about a thousand system calls. A call
     * during which others are made takes two lines. */
    free(run_well("test $(grep '^[0-9]' calls | grep -vc ' resumed>') -lt 1500"));
}

/* A parent that ignores SIGCHLD, as some supervisors do. */
Test(e2e_record, where_sigchld_is_ignored)
{
    struct ran r = run("python3 -c 'import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                       "os.execl(os.environ[\"DWELL\"], \"dwell\", \"record\", os.environ[\"PROGRAMS\"] + "
                       "\"/processes/processes-ends\", \"alone\", \"0\", \"wait\")'");
    cr_assert(eq(int, r.status, 7), "%s", r.err);
    ran_drop(&r);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "complete") && has(info, "exit 7"), "%s", info);
    free(info);
}

/* Per cent of the CPU time that the shell has counted at the end, of itself and of the program: what one call costs, as
 * `dwell info` says, times the calls. */
static double record_probes_share(const char *out)
{
    char *info = run_well("$DWELL info");
    const char *line = strstr(info, "\nprobes ");
    double callee, caller, cpu = 0;
    cr_assert(line && sscanf(line, "\nprobes %lf ns a call in the called function, %lf", &callee, &caller) == 2, "%s",
              info);
    free(info);
    const char *times = strstr(out, "calls main 1\n");
    cr_assert(times != NULL, "%s", out);
    times += strlen("calls main 1\n");
    for (int i = 0, length = 0; i < 4; i++, times += length) {
        double minutes, seconds;
        cr_assert(eq(int, sscanf(times, "%lfm%lfs %n", &minutes, &seconds, &length), 2), "%s", out);
        cpu += 60 * minutes + seconds;
    }
    return (double)truth(out, "fib") * (callee + caller) / 1e7 / cpu;
}

Test(e2e_record, probes_that_took_most_of_the_run)
{
    /* In mode trace, making the file's pages takes CPU time as well: on some machines more than the probes. Each
     * process measures its probes for itself, and `dwell info` says what the first one found. */
    static const char *const options[] = { "--mode trace --clock=ordered", "--mode profile" };
    enum { DIFFER = 15 };
    for (int i = 0; i < 2; i++) {
        struct ran r = run("$DWELL record %s sh -c '$SAMPLES/fib 33; times'", options[i]);
        const double wanted = record_probes_share(r.out);
        int share = 0;
        const char *line = strstr(r.err, "dwell: the probes took about ");
        cr_assert(line || (i == 0 && wanted < 50 + DIFFER), "%s: %f", r.err, wanted);
        if (line) {
            cr_assert(eq(int, sscanf(line, "dwell: the probes took about %d", &share), 1));
            cr_assert(ge(int, share, 50));
            cr_assert(gt(dbl, wanted, share - DIFFER), "%s: %f", r.err, wanted);
            cr_assert(has(r.err, " % of the program's CPU time; record --overhead 10% limits that\n"), "%s", r.err);
        }
        ran_drop(&r);
    }
    static const char *const others[] = { "-q $SAMPLES/fib 33", "--overhead 10% $SAMPLES/fib 33", "$SAMPLES/fib 20",
                                          "--only main $SAMPLES/fib 33" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct ran r = run("$DWELL record %s > /dev/null", others[i]);
        cr_assert(not(has(r.err, "the probes took")), "%s: %s", others[i], r.err);
        ran_drop(&r);
    }
}
