/* Sessions that were cut or overwritten after they were recorded: nothing of them lies. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_damage, .timeout = 600, .init = without_os_calls);

/* The line of `dwell info` about checksums. */
static void expect_checksums(const char *session, const char *line)
{
    char *out = run_well("$DWELL info %s | sed -n 's/^checksums  *//p'", session);
    cr_assert(eq(str, out, (char *)line), "%s", session);
    free(out);
}

Test(e2e_damage, every_writer_seals)
{
    free(
        run_well("$DWELL record -q -o trace $SAMPLES/fib 12 && $DWELL record -q --mode profile -o tree $SAMPLES/fib 12 "
                 "&& $DWELL record -q --mode ring=64K -o ring $SAMPLES/fib 18 && $DWELL record -q --sample 200 -o "
                 "samples $SAMPLES/fib 22 && $DWELL record -q --level counted=fib -o counted $SAMPLES/fib 12 && "
                 "$DWELL merge trace counted -o merged && $DWELL profile trace -o sums && "
                 "$DWELL profile ring -o others && $DWELL merge sums others -o all && "
                 "$DWELL export vsperf -o report trace && $DWELL import -o imported vsperf report_*.csv"));
    static const char *const sessions[] = { "trace",  "tree", "ring", "samples", "counted",
                                            "merged", "sums", "all",  "imported" };
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
        expect_checksums(sessions[i], "all chunks are whole\n");
}

Test(e2e_damage, sessions_without_a_recorder_say_so)
{
    free(run_well("LD_PRELOAD=$RUNTIME DWELL_OUTPUT=alone $SAMPLES/fib 12"));
    expect_checksums("alone", "none: damage may go unnoticed\n");
}

/* `view` has %s in the place of the session. */
static struct ran run_view(const char *view, const char *options)
{
    char command[200];
    snprintf(command, sizeof command, view, options);
    return run("$DWELL %s", command);
}

static void expect_remark(const char *view, const char *file, const char *remark)
{
    struct ran r = run_view(view, file);
    cr_assert(eq(int, r.status, 0), "%s: %s", view, r.err);
    cr_assert(has(r.out, remark) || has(r.err, remark), "%s: %s%s", view, r.out, r.err);
    ran_drop(&r);
}

Test(e2e_damage, a_session_that_was_cut)
{
    static const char *const views[] = {
        "report %s",        "report --by thread %s", "report --hot %s", "report --format json %s",
        "tree %s",          "tree --format json %s", "callers %s fib",  "waits %s",
        "histogram %s fib", "slowest %s fib",        "info %s",         "export collapsed -o /dev/null %s"
    };
    free(run_well("$DWELL record -q $SAMPLES/fib 20 && head -c 100000 dwell.data >cut"));
    char *remark = run_well("printf 'the file was cut: the last %%d of its %%d bytes are missing' "
                            "$(($(stat -c %%s dwell.data) - 100000)) $(stat -c %%s dwell.data)");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        expect_remark(views[i], "cut", remark);
        struct ran r = run_view(views[i], "--strict cut");
        char *expected = run_well("printf 'dwell: cut: %s\\n'", remark);
        cr_assert(eq(int, r.status, 2), "%s", views[i]);
        cr_assert(eq(str, r.out, ""), "%s", views[i]);
        cr_assert(eq(str, r.err, expected), "%s", views[i]);
        ran_drop(&r);
        r = run_view(views[i], "--strict dwell.data");
        cr_assert(eq(int, r.status, 0), "%s: %s", views[i], r.err);
        ran_drop(&r);
        free(expected);
    }
    free(remark);
    struct report *whole = report_of("dwell.data"), *cut = report_of("cut");
    cr_assert(report_session(cut, "elapsed_inclusive_ns") < report_session(whole, "elapsed_inclusive_ns"));
    cr_assert(report_sum(cut, "function", "fib", "calls") < report_sum(whole, "function", "fib", "calls"));
    report_drop(whole);
    report_drop(cut);
}

/* Noise over half of the file. */
Test(e2e_damage, a_session_with_noise)
{
    static const char *const modes[] = { "trace", "profile", "ring" };
    for (int i = 0; i < 3; i++) {
        free(run_well("rm -f noise; $DWELL record -q --mode %s $SAMPLES/fib 22 && cp dwell.data noise && "
                      "size=$(($(stat -c %%s noise) / 4096)) && "
                      "dd if=/dev/urandom of=noise bs=4096 seek=$((size / 4)) count=$((size / 2)) conv=notrunc 2>&1",
                      modes[i]));
        struct report *whole = report_of("dwell.data"), *rest = report_of("noise");
        cr_assert(report_session(rest, "elapsed_inclusive_ns") <= report_session(whole, "elapsed_inclusive_ns"));
        cr_assert(report_session(rest, "os_events") <= report_session(whole, "os_events"));
        cr_assert(report_sum(rest, "function", NULL, "calls") <= report_sum(whole, "function", NULL, "calls"));
        report_drop(whole);
        report_drop(rest);
        struct ran r = run("$DWELL report --strict noise");
        cr_assert(eq(int, r.status, 2), "%s", modes[i]);
        ran_drop(&r);
        r = run("$DWELL info noise | grep -c '^checksums  *all'; $DWELL info noise | grep -q '^state  *damaged'");
        cr_assert(eq(int, r.status, 0), "%s", modes[i]);
        cr_assert(eq(str, r.out, "0\n"), "%s", modes[i]);
        ran_drop(&r);
    }
}
