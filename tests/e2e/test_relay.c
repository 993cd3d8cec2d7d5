/*
 * Signals to `dwell record`: those that are meant for the program reach it once, those of the whole group not again.
 * The recorder stops when the program does. Processes that outlive the program.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_relay, .timeout = 600, .init = without_os_calls);

#define PROGRAM "$PROGRAMS/relayed "
#define RELAY_WHEN(file) "while ! test -s " file "; do sleep 0.02; done; "
/* Starts a command in a session of its own, whose ID is $pid. $program is the program when it is ready. Tests under
 * nohup have SIGHUP ignored. */
#define IN_BACKGROUND(command)                                                                                         \
    "rm -f ready; setsid env --default-signal=HUP " command                                                            \
    " >out 2>err & pid=$!; " RELAY_WHEN("ready") "program=$(cat ready); "

static void relay_expect(const char *commands, const char *expected)
{
    struct ran r = run("%s", commands);
    cr_assert(eq(str, r.out, (char *)expected), "%s: %s", commands, r.err);
    ran_drop(&r);
}

#define RECORD(words) "$DWELL record -q " PROGRAM words

Test(e2e_relay, signals_to_the_recorder_alone)
{
    relay_expect(
        "for i in INT QUIT TERM HUP USR1 USR2 WINCH ALRM CONT TSTP RTMIN+3 IO URG XCPU PIPE; do " IN_BACKGROUND(
            RECORD("count 0 7")) "kill -$i $pid; wait $pid; echo $i $? $(cat out err); done",
        "INT 7 signal 2, 1 times\nQUIT 7 signal 3, 1 times\nTERM 7 signal 15, 1 times\n"
        "HUP 7 signal 1, 1 times\nUSR1 7 signal 10, 1 times\nUSR2 7 signal 12, 1 times\n"
        "WINCH 7 signal 28, 1 times\nALRM 7 signal 14, 1 times\nCONT 7 signal 18, 1 times\n"
        "TSTP 7 signal 20, 1 times\nRTMIN+3 7 signal 37, 1 times\nIO 7 signal 29, 1 times\n"
        "URG 7 signal 23, 1 times\nXCPU 7 signal 24, 1 times\nPIPE 7 signal 13, 1 times\n");
}

/* The program's own end shows that it has had the signal: it ends by it, and so does dwell. */
Test(e2e_relay, signals_without_a_handler)
{
    relay_expect("for i in ALRM RTMIN+3 HUP; do " IN_BACKGROUND(
                     "$DWELL record -q sh -c 'echo $$ >ready; exec sleep 60'") "kill -$i $pid; wait $pid; echo $i "
                                                                               "$?; kill -0 $program 2>/dev/null; done",
                 "ALRM 142\nRTMIN+3 165\nHUP 129\n");
}

/* Supervisors end a whole group so. */
Test(e2e_relay, signals_to_the_group)
{
    relay_expect("for i in TERM INT HUP USR1 WINCH RTMIN+3; do " IN_BACKGROUND(
                     RECORD("count 300 7")) "/bin/kill -$i -- -$pid; wait $pid; echo $i $? $(cat out err); done",
                 "TERM 7 signal 15, 1 times\nINT 7 signal 2, 1 times\nHUP 7 signal 1, 1 times\n"
                 "USR1 7 signal 10, 1 times\nWINCH 7 signal 28, 1 times\nRTMIN+3 7 signal 37, 1 times\n");
}

/* Service managers end all processes of a service so. */
Test(e2e_relay, signals_to_one_process_after_the_other)
{
    relay_expect(IN_BACKGROUND(RECORD("count 300 7")) "kill -TERM $(pgrep -s $pid -x signals) $program $pid; wait "
                                                      "$pid; echo $? $(cat out err)",
                 "7 signal 15, 1 times\n");
}

/* Who ends all that is called dwell means the recorder. */
Test(e2e_relay, signals_by_name)
{
    relay_expect(IN_BACKGROUND(RECORD("count 300 7")) "pkill -TERM -s $pid -x dwell; wait $pid; echo $? $(cat out err)",
                 "7 signal 15, 1 times\n");
    relay_expect(IN_BACKGROUND(RECORD("count 300 7")) "pkill -TERM -s $pid -f 'dwell record'; wait $pid; echo $? $(cat "
                                                      "out err)",
                 "7 signal 15, 1 times\n");
}

/* What the program sends to its parent does not come back. */
Test(e2e_relay, signals_of_the_program_to_the_recorder)
{
    char *out =
        run_well("$DWELL record -q sh -c 'trap \"echo came back\" USR1; kill -USR1 $PPID; sleep 0.3; echo end'");
    cr_assert(eq(str, out, "end\n"));
    free(out);
}

Test(e2e_relay, signals_to_several_runs)
{
    relay_expect(
        IN_BACKGROUND("$DWELL record -q --runs 3 " PROGRAM "count 0 0") "kill -TERM $pid; wait $pid; echo $?; "
                                                                        "cat out err; pgrep -s $pid; ls *.data",
        "143\nsignal 15, 1 times\n"
        "dwell: run 1 of 3: signal 15 came (Terminated); no other run follows\ndwell-1.data\n");
    relay_expect(IN_BACKGROUND("$DWELL record -q --runs 3 " PROGRAM
                               "count 300 7") "/bin/kill -TERM -- -$pid; wait $pid; echo "
                                              "$?; sed s#$PROGRAMS.## out err; pgrep -s $pid",
                 "7\nsignal 15, 1 times\n"
                 "dwell: run 1 of 3: relayed ended with exit status 7; no other run follows\n");
    relay_expect(IN_BACKGROUND("$DWELL compare -q --runs 3 " PROGRAM PROGRAM "-- count 0 0") "kill -TERM $pid; wait "
                                                                                             "$pid; echo $?; cat out "
                                                                                             "err; pgrep -s $pid",
                 "143\nsignal 15, 1 times\n"
                 "dwell: before run 1 of 3: signal 15 came (Terminated); no other run follows\n");
}

/* ---- stops ---- */

/* Starts dwell as a job of this process, which is what a shell does. */
static pid_t relay_start_job(char *const *words)
{
    const char *folder = test_folder();
    const pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        const int out = chdir(folder) < 0 ? -1 : open("told", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out >= 0 && dup2(out, STDOUT_FILENO) >= 0)
            execv(DWELL_EXE, words);
        _exit(99);
    }
    setpgid(pid, pid);
    return pid;
}

static void relay_expect_stop(pid_t pid, int number)
{
    int status;
    cr_assert(eq(int, waitpid(pid, &status, WUNTRACED), pid));
    cr_assert(eq(int, WIFSTOPPED(status) != 0, 1), "%x", (unsigned)status);
    cr_assert(eq(int, WSTOPSIG(status), number));
}

static void relay_expect_end(pid_t pid, const char *told)
{
    int status;
    cr_assert(eq(int, waitpid(pid, &status, WUNTRACED), pid));
    cr_assert(eq(int, status, 0));
    char *out = run_well("cat told");
    cr_assert(eq(str, out, (char *)told));
    free(out);
}

static char relay_program[] = DWELL_PROGRAMS "/relayed", relay_stop[] = "stop", relay_dwell[] = "dwell",
            relay_record[] = "record", relay_quiet[] = "-q", relay_runs[] = "--runs=2";

Test(e2e_relay, a_program_that_stops_itself)
{
    char *const words[] = { relay_dwell, relay_record, relay_quiet, relay_program, relay_stop, NULL };
    const pid_t pid = relay_start_job(words);
    relay_expect_stop(pid, SIGTSTP);
    kill(-pid, SIGCONT);
    relay_expect_end(pid, "continued\n");
    free(run_well("$DWELL info | grep -q complete"));
}

/* Then the recorder goes on as well. */
Test(e2e_relay, the_program_alone_is_continued)
{
    char *const words[] = { relay_dwell, relay_record, relay_quiet, relay_program, relay_stop, NULL };
    const pid_t pid = relay_start_job(words);
    relay_expect_stop(pid, SIGTSTP);
    free(run_well("kill -CONT $(cat ready)"));
    relay_expect_end(pid, "continued\n");
}

Test(e2e_relay, the_recorder_alone_is_continued)
{
    char *const words[] = { relay_dwell, relay_record, relay_quiet, relay_program, relay_stop, NULL };
    const pid_t pid = relay_start_job(words);
    relay_expect_stop(pid, SIGTSTP);
    kill(pid, SIGCONT);
    relay_expect_end(pid, "continued\n");
}

Test(e2e_relay, several_runs_that_stop)
{
    char *const words[] = { relay_dwell, relay_record, relay_quiet, relay_runs, relay_program, relay_stop, NULL };
    const pid_t pid = relay_start_job(words);
    for (int run = 0; run < 2; run++) {
        relay_expect_stop(pid, SIGTSTP);
        kill(-pid, SIGCONT);
    }
    relay_expect_end(pid, "continued\ncontinued\n");
}

/* ---- daemons ---- */

static void relay_check_served(const char *session)
{
    char *served = run_well("cat served");
    struct report *r = report_of(session);
    check_counts(served, r, 1);
    report_drop(r);
    free(served);
}

Test(e2e_relay, a_daemon_outlives_the_recorder)
{
    struct ran r = run("$DWELL record " PROGRAM
                       "daemon late; echo $?; " RELAY_WHEN("ready") "touch go; " RELAY_WHEN("served") "cat ready");
    cr_assert(eq(int, r.status, 0));
    char *pid = strchr(r.out, '\n'), *expected = NULL;
    cr_assert(eq(int, strncmp(r.out, "3\n", 2), 0));
    cr_assert(gt(int,
                 asprintf(&expected,
                          "dwell: relayed (PID %.*s) is still recorded, without samples, budget and exit status; "
                          "record --wait-all waits for its end\n",
                          (int)strcspn(pid + 1, "\n"), pid + 1),
                 0));
    cr_assert(has(r.err, expected), "%s%s", r.err, expected);
    free(expected);
    ran_drop(&r);
}

Test(e2e_relay, all_processes_are_waited_for)
{
    struct ran r = run(IN_BACKGROUND("$DWELL record --wait-all --runs 1 " PROGRAM "daemon") "sleep 1; kill -0 $pid && "
                                                                                            "touch go; wait $pid; echo "
                                                                                            "$?; cat err");
    cr_assert(eq(int, strncmp(r.out, "3\n", 2), 0), "%s", r.out);
    cr_assert(eq(int, has(r.out, "still recorded"), 0), "%s", r.out);
    ran_drop(&r);
    relay_check_served("");
    char *info = run_well("$DWELL info | grep -o 'exit [0-9]*' | sort");
    cr_assert(eq(str, info, "exit 3\nexit 5\n"));
    free(info);
}

/* After the program's end, signals are for what is left of it. */
Test(e2e_relay, signals_to_a_daemon)
{
    relay_expect(
        IN_BACKGROUND("$DWELL record -q --wait-all " PROGRAM "daemon") "until test \"$(pgrep -P $pid -x relayed)\" = "
                                                                       "$program; do sleep 0.02; done; "
                                                                       "kill -TERM $pid; wait $pid; echo $?; cat err; "
                                                                       "kill -0 $program 2>/dev/null",
        "3\n");
    relay_check_served("");
}

/* They are taken until the daemon ends, not only until the program does. Few are in short functions' own code, for the
 * probes take longer. */
Test(e2e_relay, samples_of_a_daemon)
{
    char *out = run_well("$DWELL doctor | grep -c 'no samples' || true");
    if (atoi(out))
        cr_skip_test("no samples here");
    free(out);
    free(run_well("$DWELL record -q --wait-all --sample 1000 sh -c '$SAMPLES/sleeper 1 20000 0 >/dev/null & exit 0'"));
    struct report *r = report_of("");
    cr_assert(gt(u64, report_sum(r, "function", "churn", "samples"), 0));
    report_drop(r);
}
