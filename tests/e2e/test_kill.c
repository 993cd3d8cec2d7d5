/*
 * SIGKILL at random moments: the report has every call that a thread completed before. The program counts each call
 * afterwards in a file that it maps. So at most one call for each thread is recorded and not counted, and none is
 * counted and not recorded.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

enum { ROUNDS = 200, THREADS = 3, SLOT = 8 };
enum { PATIENCE = 120000 }; /* times half a millisecond for a program to start: a busy machine may take seconds */

TestSuite(e2e_kill, .timeout = 300);

enum killed_by { BY_RECORDER, BY_PRELOADED, CALLING_LIBRARY };

static void __attribute__((noreturn)) run_killed(enum killed_by how)
{
    if (chdir(test_folder()) < 0)
        _exit(99);
    char threads[8];
    snprintf(threads, sizeof threads, "%d", THREADS);
    if (how == CALLING_LIBRARY) {
        execl(DWELL_EXE, "dwell", "record", "-q", "-o", "killed.data", "--overhead", "none", "--calls-to", "leaf",
              "./calling", "counters", threads, (char *)NULL);
    } else if (how == BY_RECORDER) {
        execl(DWELL_EXE, "dwell", "record", "-q", "-o", "killed.data", DWELL_PROGRAMS "/killed", "counters", threads,
              (char *)NULL);
    } else {
        setenv("DWELL_OUTPUT", "killed.data", 1);
        setenv("LD_PRELOAD", DWELL_RUNTIME, 1);
        execl(DWELL_PROGRAMS "/killed", "killed", "counters", threads, (char *)NULL);
    }
    _exit(99);
}

/* The program writes its pid beside its counters, because dwell is its parent in some rounds. */
static bool read_counters(uint64_t *sum, pid_t *pid)
{
    int64_t counters[(THREADS + 1) * SLOT];
    int fd = open(test_path("counters"), O_RDONLY);
    bool whole = fd >= 0 && read(fd, counters, sizeof counters) == (ssize_t)sizeof counters && counters[0] > 0;
    if (fd >= 0)
        close(fd);
    if (!whole)
        return false;
    *pid = (pid_t)counters[0];
    *sum = 0;
    for (int i = 1; i <= THREADS; i++)
        *sum += (uint64_t)counters[i * SLOT];
    return true;
}

static void kill_at_random(int round, pid_t child, bool recorder)
{
    uint64_t sum;
    pid_t pid = 0;
    for (int i = 0; i < PATIENCE && !read_counters(&sum, &pid); i++)
        usleep(500);
    cr_assert(ne(int, pid, 0), "the program did not start");
    usleep((useconds_t)(rand() % 20000));
    if (recorder && round % 4 == 0)
        kill(child, SIGKILL); /* dwell first, then the program */
    kill(pid, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    cr_assert(killed);
}

static void kill_once(int round, enum killed_by how)
{
    unlink(test_path("counters"));
    unlink(test_path("killed.data"));
    pid_t child = fork();
    if (child == 0)
        run_killed(how);
    kill_at_random(round, child, how != BY_PRELOADED);
    usleep(1000); /* the killed program's other threads may run for a moment */
    uint64_t counted;
    pid_t pid;
    cr_assert(read_counters(&counted, &pid));
    struct report *r = report_of("killed.data");
    uint64_t recorded = report_sum(r, "function", "leaf", "calls");
    cr_assert(ge(u64, recorded, counted), "round %d", round);
    cr_assert(le(u64, recorded, counted + THREADS), "round %d", round);
    report_drop(r);
}

Test(e2e_kill, nothing_completed_is_lost)
{
    srand(1);
    const int rounds = test_rounds(ROUNDS);
    for (int round = 0; round < rounds; round++)
        kill_once(round, round % 2 == 0 ? BY_RECORDER : BY_PRELOADED);
}

/* The leaf is a library's function. */
Test(e2e_kill, no_call_of_a_library_is_lost)
{
    srand(2);
    free(run_well(
        "gcc -O1 -DLIBRARY -shared -fPIC " DWELL_CONSUMERS
        "/../e2e/programs/killed.c -o libleaf.so && gcc -O1 -DCALLS_LIBRARY -finstrument-functions " DWELL_CONSUMERS
        "/../e2e/programs/killed.c -o calling -pthread -L. -lleaf -Wl,-rpath,$PWD"));
    const int rounds = test_rounds(ROUNDS / 4);
    for (int round = 0; round < rounds; round++)
        kill_once(round, CALLING_LIBRARY);
}
