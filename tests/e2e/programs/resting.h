/* For programs whose waits have known causes: an act comes well after the other thread, or the parent, has begun to
 * wait. All of it is by bare system calls, which are not rows. */
#ifndef RESTING_H
#define RESTING_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function, unused))

enum { WAIT_MS = 20, MS = 1000000 };

/* The state of a process' first thread, such as S. */
UNSEEN static char state_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, pid);
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY),
               length = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[length > 0 ? length : 0] = 0;
    const char *end = strrchr(text, ')');
    return end ? end[2] : 0;
}

UNSEEN static void pass(long ms)
{
    struct timespec time = { 0, ms * MS };
    syscall(SYS_nanosleep, &time, NULL);
}

/* Returns a while after that thread has begun to wait. On its way there, it may sleep for a moment for other reasons,
 * and then wait for a busy processor: so it must be asleep at the end as well. */
UNSEEN static void rest_until_waits(pid_t other)
{
    do {
        while (state_of(other) != 'S')
            pass(1);
        pass(WAIT_MS);
    } while (state_of(other) != 'S');
}

/* Returns a while after the other thread, or the parent, has begun to wait. */
UNSEEN static void rest(void)
{
    rest_until_waits(syscall(SYS_gettid) == getpid() ? getppid() : getpid());
}

#endif
