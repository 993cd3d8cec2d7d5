/*
 * Stops the recording's helper thread, so that a probe waits for it, until it has waited for as long as the argument
 * says, in milliseconds.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function, noinline))

enum { LEVELS = 20000, CALLS = 400000 };

static volatile unsigned long calls;

__attribute__((noinline)) static void count(void)
{
    calls++;
}

/* Each level is a call path of its own. */
__attribute__((noinline)) static void descend(int levels)
{
    calls++;
    if (levels > 0)
        descend(levels - 1);
    calls++;
}

HIDDEN static char read_char(const char *path, const char *after)
{
    char text[512] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, after);
    return at ? at[strlen(after)] : 0;
}

HIDDEN static pid_t find_helper(void)
{
    DIR *tasks = opendir("/proc/self/task");
    pid_t found = 0;
    for (struct dirent *entry; (entry = readdir(tasks));) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        if (read_char(path, "dwell") == '\n')
            found = (pid_t)atol(entry->d_name);
    }
    closedir(tasks);
    return found;
}

HIDDEN static void rest(long milliseconds)
{
    nanosleep(&(struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000 }, NULL);
}

/* The thread sleeps in the probe only. */
HIDDEN static int hold(pid_t helper, int ready, long milliseconds)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)getppid(), (int)getppid());
    if (ptrace(PTRACE_SEIZE, helper, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, helper, 0, 0) < 0 ||
        waitpid(helper, NULL, __WALL) != helper || write(ready, "", 1) != 1)
        return 1;
    while (read_char(path, ") ") != 'S')
        rest(1);
    rest(milliseconds);
    return ptrace(PTRACE_DETACH, helper, 0, 0) < 0;
}

int main(int argc, char **argv)
{
    const long milliseconds = argc > 1 ? atol(argv[1]) : 200;
    int ready[2], status = 1;
    char byte;
    const pid_t helper = find_helper();
    if (!helper || pipe(ready) < 0)
        return 1;
    const pid_t child = fork();
    if (child == 0)
        _exit(hold(helper, ready[1], milliseconds));
    close(ready[1]);
    prctl(PR_SET_PTRACER, child, 0, 0, 0);
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    for (int i = 0; i < CALLS; i++)
        count();
    descend(LEVELS);
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    return 0;
}
