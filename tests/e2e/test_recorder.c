/* `dwell record` killed at any moment, from before the program starts until after it ended. The program does not
 * notice, and everything that it recorded is there. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_recorder, .timeout = 300, .init = without_os_calls);

enum { ROUNDS = 120 };

/* Starts the recorder with the program's output in a file, and a pipe that ends when no process is left. */
struct recorder {
    pid_t pid;
    int alive;
};

static void __attribute__((noreturn)) run_recorder(void)
{
    int out = open("told", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(99);
    execl(DWELL_EXE, "dwell", "record", "-q", "-o", "left.data", DWELL_SAMPLES "/threads", "3", "60000", (char *)NULL);
    _exit(99);
}

static struct recorder recorder_start(void)
{
    int pipes[2];
    cr_assert(eq(int, pipe(pipes), 0));
    struct recorder r = { fork(), pipes[0] };
    if (r.pid == 0) {
        close(pipes[0]);
        if (chdir(test_folder()) < 0)
            _exit(99);
        run_recorder();
    }
    close(pipes[1]);
    return r;
}

static int wait_for_all(struct recorder *r)
{
    char byte;
    int status;
    cr_assert(eq(int, waitpid(r->pid, &status, 0), r->pid));
    cr_assert(eq(int, (int)read(r->alive, &byte, 1), 0));
    close(r->alive);
    return status;
}

static void remove_all(void)
{
    unlink(test_path("told"));
    unlink(test_path("left.data"));
    unlink(test_path("left.data.old"));
}

static long recorder_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The duration without a kill. */
static long usual_time(void)
{
    long least = LONG_MAX;
    for (int i = 0; i < 5; i++) {
        remove_all();
        const long begin = recorder_microseconds();
        struct recorder r = recorder_start();
        cr_assert(eq(int, wait_for_all(&r), 0));
        const long time = recorder_microseconds() - begin;
        least = time < least ? time : least;
    }
    return least;
}

static void check_all_is_there(const char *told)
{
    static const char *const functions[] = { "main", "run_wave", "worker", "work" };
    struct report *r = report_of("left.data");
    for (int i = 0; i < 4; i++)
        if (strstr(told, functions[i]))
            cr_assert(eq(u64, report_sum(r, "function", functions[i], "calls"), truth(told, functions[i])));
    cr_assert(eq(u64, report_sum(r, "function", "work", "calls"), truth(told, "work")));
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(run_well("$DWELL info left.data"));
    free(run_well("$DWELL tree left.data"));
}

Test(e2e_recorder, killed_at_any_moment)
{
    const long usual = usual_time();
    int before = 0, meanwhile = 0, complete = 0;
    for (int round = 0; round < ROUNDS; round++) {
        remove_all();
        struct recorder r = recorder_start();
        usleep((useconds_t)(usual * round / (ROUNDS * 9 / 10)));
        kill(r.pid, SIGKILL);
        const int status = wait_for_all(&r);
        cr_assert(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
        char *told = run_well("cat told 2>/dev/null || true");
        if (*told)
            check_all_is_there(told);
        before += !*told;
        complete += status == 0;
        meanwhile += *told && status != 0;
        free(told);
    }
    printf("killed before the program started: %d, meanwhile: %d, ended before: %d\n", before, meanwhile, complete);
    cr_assert(gt(int, meanwhile, 0));
}

/* The recorder is killed while the program lives and still has children. */
Test(e2e_recorder, killed_with_processes_still_to_come)
{
    free(run_well("LEDGER=$PWD/ledger $DWELL record -q -o left.data sh -c 'kill -9 $PPID; for i in 1 2 3 4 5 6; do "
                  "$PROGRAMS/processes/processes-worker $i; done; $PROGRAMS/processes/processes-forks generations' "
                  "3>&1 >/dev/null | cat; sleep 0.1; $DWELL report --by process left.data"));
    char *told = run_well("sort ledger"),
         *recorded = run_well("$DWELL report --by process --format csv left.data | tr -d '\\r' "
                              "| awk -F, 'NR > 1 { print \"process\", $2, $3, $5 }' | sort");
    cr_assert(eq(str, recorded, told));
    cr_assert(has(told, "process"));
    free(told);
    free(recorded);
}

/* A killed process cannot say that it does not listen any more. Whoever changes levels would wait for it. */
Test(e2e_recorder, killed_processes_do_not_listen)
{
    char *listening =
        run_well("cat > word <<'END'\nword() { od -An -t u$2 -j $1 -N $2 dwell.data | tr -d ' '; }\nEND\n"
                 "cat > script <<'END'\n. ./word\n$SAMPLES/sleeper 100000 50 2 >/dev/null &\n"
                 "until at=$(word 152 8); test $at != 0 && test $(word $((at + 76)) 4) = 1; do sleep 0.05; done\n"
                 "kill -9 $!; wait $!; test $? = 137\nEND\n"
                 "$DWELL record -q sh script 2>/dev/null && . ./word && word $(($(word 152 8) + 76)) 4");
    cr_assert(eq(str, listening, "0\n"));
    free(listening);
}
