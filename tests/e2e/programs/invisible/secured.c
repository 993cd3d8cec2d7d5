/*
 * secured PROGRAM ARGUMENT...: starts the program as the kernel starts one that is setuid, as the program sees it: the
 * entry AT_SECURE of its auxiliary vector is 1. Ends as the program does.
 */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(99);
}

static long read_word(pid_t pid, unsigned long at)
{
    return ptrace(PTRACE_PEEKDATA, pid, (void *)at, NULL);
}

/* Where the kernel has put the number of arguments: field 28 of /proc/PID/stat. */
static unsigned long start_of_stack(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof text, file))
        fail(path);
    fclose(file);
    const char *at = strrchr(text, ')') + 2; /* field 3 */
    for (int field = 3; field < 28; field++)
        at = strchr(at, ' ') + 1;
    return strtoul(at, NULL, 10);
}

/* The arguments, the environment and the auxiliary vector follow one another. NULL ends the first two. */
static void set_secure(pid_t pid)
{
    unsigned long at = start_of_stack(pid) + sizeof(long);
    for (int lists = 0; lists < 2; at += sizeof(long))
        lists += read_word(pid, at) == 0;
    while (read_word(pid, at) != AT_SECURE)
        if (read_word(pid, at) == AT_NULL)
            fail("AT_SECURE");
        else
            at += 2 * sizeof(long);
    if (ptrace(PTRACE_POKEDATA, pid, (void *)(at + sizeof(long)), (void *)1) < 0)
        fail("ptrace");
}

int main(int argc, char **argv)
{
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0 && argc > 1) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[1], argv + 1);
        fail(argv[1]);
    }
    if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
        fail("waitpid");
    set_secure(pid);
    if (ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) < 0)
        fail("ptrace");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
