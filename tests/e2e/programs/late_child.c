/*
 * A forked child works and sleeps before it calls its first function. Prints "calls cpu" and the nanoseconds of
 * CPU time that the kernel counts for the child up to the end of that call.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function, noinline))

static volatile unsigned long done;

HIDDEN static uint64_t cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

HIDDEN static void work(long milliseconds)
{
    const uint64_t begin = cpu_time();
    while (cpu_time() - begin < (uint64_t)milliseconds * 1000000)
        done++;
}

__attribute__((noinline)) static void handle(void)
{
    work(20);
}

/* Its calls of the system are no rows. */
HIDDEN static void late(long sleep)
{
    work(20);
    syscall(SYS_nanosleep, &(struct timespec){ sleep / 1000, sleep % 1000 * 1000000 }, NULL);
    handle();
    printf("calls cpu %ju\n", (uintmax_t)cpu_time());
    fflush(stdout);
    _exit(0);
}

/* The child does not leave it. */
__attribute__((noinline)) static pid_t spawn(long sleep)
{
    const pid_t child = fork();
    if (child == 0)
        late(sleep);
    return child;
}

int main(int argc, char **argv)
{
    const pid_t child = spawn(argc > 1 ? atol(argv[1]) : 1000);
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
