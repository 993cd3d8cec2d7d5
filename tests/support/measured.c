/* Runs `dwell` with a limit, and returns what it used. */
#include "support/measured.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

struct rusage measured_run(const char *command, int resource, rlim_t limit)
{
    char *line;
    cr_assert(ge(int, asprintf(&line, "exec '%s' %s", DWELL_EXE, command), 0));
    const char *folder = test_folder();
    const pid_t pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0) {
        if (chdir(folder) < 0 || setrlimit((__rlimit_resource_t)resource, &(struct rlimit){ limit, limit }) < 0)
            _exit(99);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(99);
    }
    int status;
    struct rusage use;
    cr_assert(eq(int, wait4(pid, &status, 0, &use), pid));
    cr_assert(eq(int, status, 0), "dwell %s", command);
    free(line);
    return use;
}

long measured_peak(const char *command, int resource, rlim_t limit, long most)
{
    long least = LONG_MAX;
    for (int try = 0; try < MOST_TRIES && least > most; try++) {
        const long peak = measured_run(command, resource, limit).ru_maxrss * 1024;
        least = peak < least ? peak : least;
    }
    return least;
}
