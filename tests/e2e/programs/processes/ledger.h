/* Each process counts its own instrumented calls. At its end it writes `process PID PARENT CALLS` into the file that
 * LEDGER names. */
#ifndef LEDGER_H
#define LEDGER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function, noinline))

static volatile long calls;
static pid_t ledger_parent;
static char ledger_path[4096];

/* One instruction, because a child that is forked in the middle of several would continue with its parent's number. */
#define COUNT_ONE() ((void)__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED))

__attribute__((noinline, unused)) static void step(void)
{
    COUNT_ONE();
}

__attribute__((noinline, unused)) static void deeper(int depth)
{
    COUNT_ONE();
    if (depth > 0)
        deeper(depth - 1);
    __asm__ volatile("");
}

/* In a new process: from here on it counts its own calls. */
QUIET static void ledger_begin(pid_t parent, long already)
{
    calls = already;
    ledger_parent = parent;
    if (!ledger_path[0] && getenv("LEDGER"))
        strcpy(ledger_path, getenv("LEDGER"));
}

QUIET static void ledger_write(void)
{
    char line[128];
    int length = snprintf(line, sizeof line, "process %d %d %ld\n", (int)getpid(), (int)ledger_parent, calls);
    int fd = open(ledger_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

#endif
