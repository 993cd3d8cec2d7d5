/*
 * More waits in one interval than the kernel's ring of a thread can store. Prints the kernel's account of the thread:
 * the nanoseconds of CPU time in the one call of storm().
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { TIMES = 2000 };

#define HIDDEN __attribute__((no_instrument_function))

HIDDEN static uint64_t cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t storm(void)
{
    const uint64_t begin = cpu_time();
    for (int i = 0; i < TIMES; i++)
        nanosleep(&(struct timespec){ 0, 20000 }, NULL);
    return cpu_time() - begin;
}

int main(void)
{
    printf("calls cpu %ju\n", (uintmax_t)storm());
    return 0;
}
