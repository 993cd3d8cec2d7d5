/*
 * Calls a function on processors that it chooses, and prints as JSON how many calls each one had: processors
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>

enum { MOST = 2 };

static volatile long sink;

__attribute__((noinline, noclone)) static void handle(long n)
{
    sink += n;
}

/* Its parameter has the name of the fact. */
__attribute__((noinline, noclone)) static void place(int cpu)
{
    sink += cpu;
}

/* Its value is read by a program of loads, and so is the processor then. */
__attribute__((noinline, noclone)) static void wide(long double x)
{
    sink += (long)x;
}

static int choose(const cpu_set_t *all, int number)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, all) && number-- == 0)
            return cpu;
    return -1;
}

/* The thread stays on the processor until the next one is chosen. */
static int stay_on(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 && sched_getcpu() == cpu;
}

int main(void)
{
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < MOST && choose(&all, i) >= 0; i++) {
        const int cpu = choose(&all, i), calls = 300 + 400 * i;
        if (!stay_on(cpu))
            return 1;
        for (int call = 0; call < calls; call++)
            handle(call % 3);
        place(1000 + i);
        wide(cpu + 0.5L);
        printf("[%d,%d]\n", cpu, calls);
    }
    return 0;
}
