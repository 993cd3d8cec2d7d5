/* Waits of real programs that another process ends, or a signal: their objects, numbers and causes are those that the
 * program has by construction. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_crossing, .timeout = 300);

static char crossing_missing[512]; /* objects that this system lacks */

/* `row`: waiting function, kind, cause, its function, number of waits. On a busy machine, a call may also wait inside
 * the kernel for what no thread of the program ends: such a row has no cause. Whether `answer` waits for a connection
 * depends on who comes first. */
static void crossing_check(const char *what, const char *mode, const char *kind, const char *row)
{
    struct ran r = run("$DWELL record -q %s $PROGRAMS/crossing %s", mode, what);
    if (r.status == 77) {
        ran_drop(&r);
        strcat(strcat(crossing_missing, " "), what);
        return;
    }
    cr_assert(zero(int, r.status), "%s: %s", what, r.err);
    ran_drop(&r);
    char *out = run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,waits "
                         "--filter 'object.kind=%s' | tr -d '\\r' | tail -n +2 | grep -v -e ,none, -e ^answer,",
                         kind);
    char *wanted = run_well("echo '%s'", row);
    cr_assert(eq(str, out, wanted), "%s %s", what, mode);
    free(out);
    free(wanted);
}

static void crossing_skip(void)
{
    if (*crossing_missing)
        cr_skip_test("this system lacks:%s", crossing_missing);
}

static const struct crossing {
    const char *what, *kind, *row;
} parts[] = {
    { "called", "socket", "take,socket,waker,give,3" },
    { "datagram", "socket", "take,socket,waker,give,3" },
    { "flock", "file lock", "lock_file,file lock,waker,unlock_file,3" },
    { "close", "file lock", "lock_file,file lock,waker,unlock_file,3" },
    { "lockf", "file lock", "lock_file,file lock,waker,unlock_file,3" },
    { "fcntl", "file lock", "lock_file,file lock,waker,unlock_file,3" },
    { "queue", "message queue", "receive_message,message queue,waker,send_message,3" },
    { "full", "message queue", "send_message,message queue,waker,receive_message,3" },
    { "system", "message queue", "receive_from_system,message queue,waker,send_to_system,3" },
    { "semaphore", "semaphore", "await_post,semaphore,waker,post,3" },
    { "named", "semaphore", "await_post,semaphore,waker,post,3" },
    { "mapped", "semaphore", "await_post,semaphore,waker,post,3" },
    { "condition", "condition", "await_condition,condition,waker,give_signal,3" },
    { "kill", "signal", "await_any_signal,signal,waker,send_signal,3" },
    { "sigwait", "signal", "await_signal,signal,waker,send_signal,3" },
    { "signalfd", "signalfd", "read_signal,signalfd,waker,send_signal,3" },
    { "set", "semaphore", "await_set,semaphore,waker,post_to_set,3" },
    { "set-several", "semaphore", "await_set,semaphore,waker,post_twice,3" },
    { "thread", "signal", "await_any_signal,signal,waker,send_signal_to_thread,3" },
};

Test(e2e_crossing, objects_and_causes)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        crossing_check(parts[i].what, "", parts[i].kind, parts[i].row);
    crossing_skip();
}

/* The end of a process releases its locks of files. */
Test(e2e_crossing, locks_that_end_with_their_process)
{
    static const char *const hows[] = { "flock", "fcntl" };
    static const char *const ends[][2] = { { "exit", "waker,(outside functions)" },
                                           { "kill", "waker,(outside functions)" },
                                           { "unlock", "waker,unlock_file" } };
    for (size_t how = 0; how < 2; how++)
        for (size_t end = 0; end < sizeof ends / sizeof *ends; end++) {
            free(run_well("$DWELL record -q $PROGRAMS/left_lock %s %s", hows[how], ends[end][0]));
            char *out = run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,waits "
                                 "--filter 'object.kind=file lock' | tr -d '\\r' | tail -n +2 | grep -v ,none,");
            char *wanted = run_well("echo 'lock_file,file lock,%s,3'", ends[end][1]);
            cr_assert(eq(str, out, wanted), "%s %s", hows[how], ends[end][0]);
            free(out);
            free(wanted);
        }
}

/* The parent may have waited for the connection, too. */
Test(e2e_crossing, the_end_that_was_accepted)
{
    free(run_well("$DWELL record -q $PROGRAMS/crossing answered"));
    char *out =
        run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,waits "
                 "--filter function=take --filter object.kind=socket | tr -d '\\r' | tail -n +2 | grep -v ,none,");
    cr_assert(eq(str, out, "take,socket,waker,give,3\n"));
    free(out);
}

Test(e2e_crossing, in_other_modes)
{
    static const char *const modes[] = { "--mode ring", "--min 0ns", "--call-sites" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        crossing_check(parts[i].what, modes[i % (sizeof modes / sizeof *modes)], parts[i].kind, parts[i].row);
    crossing_skip();
}

/* The child sleeps by system calls that are no rows. Nobody knows what ended these waits, so a prediction is a range,
 * and a remark names the function whose own code they are in. */
Test(e2e_crossing, predictions_that_are_ranges)
{
    free(run_well("$DWELL record -q $PROGRAMS/crossing called"));
    char *out = run_well("$DWELL whatif act_often=0.5 --format json");
    cr_assert(has(out, "\"predicted_ns\": null, \"least_ns\": "), "%s", out);
    free(out);
    out = run_well("$DWELL whatif act_often=0.5");
    cr_assert(has(out, "of the run's path are waits without a known cause"), "%s", out);
    cr_assert(has(out, "act_often was blocked for "), "%s", out);
    free(out);
    out = run_well("$DWELL whatif act_often=1 | grep -c '^predicted .* to .* %%)$'");
    cr_assert(eq(str, out, "1\n"));
    free(out);
}
