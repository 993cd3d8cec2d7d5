/*
 * killed_busy self|child: the process works, prints "calls cpu" and its nanoseconds of CPU time since it began that,
 * and is killed. Or a forked child does.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function, noinline))

HIDDEN static uint64_t cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void work(void)
{
    const uint64_t begin = cpu_time();
    while (cpu_time() - begin < 100000000)
        continue;
    printf("calls cpu %ju\n", (uintmax_t)(cpu_time() - begin));
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

int main(void)
{
    work();
    return 1;
}
