/*
 * timed_calls THREADS CALLS [kill]: each thread makes so many calls of work, every other one by way of through. It
 * measures each call, and prints their number, then the percentiles next to the 50th, 90th and 99th: half a percent of
 * the calls below each, and above it. All times are in nanoseconds. Then it is killed, if that is wanted. Of the calls
 * of recursive, it says nothing.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function, noinline))
#define KEPT __attribute__((noinline, noclone))

enum { MOST_THREADS = 16, MOST_CALLS = 100000, DEPTH = 5 };

static uint64_t *measured;
static int calls;

HIDDEN static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Of 100 calls, 2 take milliseconds, and 13 tenths of them. */
HIDDEN static uint64_t wanted_ns(int call)
{
    const uint64_t part = (uint64_t)(call * 37 % 100);
    return call % 50 == 49 ? 2000000 + part * 10000 : call % 20 >= 17 ? 200000 + part * 2000 : 20000 + part * 200;
}

KEPT static void work(int call, uint64_t *took)
{
    const uint64_t begin = now_ns(), wanted = wanted_ns(call);
    while (now_ns() - begin < wanted)
        continue;
    *took = now_ns() - begin;
}

KEPT static void through(int call, uint64_t *took)
{
    work(call, took);
    __asm__ volatile("");
}

KEPT static void recursive(int depth)
{
    if (depth > 1)
        recursive(depth - 1);
    __asm__ volatile("");
}

KEPT static void *run(void *of_thread)
{
    for (int i = 0; i < calls; i++)
        (i % 2 ? through : work)(i, (uint64_t *)of_thread + i);
    for (int i = 0; i < calls; i++)
        recursive(DEPTH);
    return NULL;
}

HIDDEN static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

HIDDEN static uintmax_t percentile(int count, int thousandths)
{
    return measured[(count * thousandths + 999) / 1000 - 1];
}

int main(int argc, char **argv)
{
    static const int shown[] = { 500, 900, 990 };
    pthread_t threads[MOST_THREADS];
    if (argc < 3)
        return 2;
    const int count = atoi(argv[1]);
    calls = atoi(argv[2]);
    if (count < 1 || count > MOST_THREADS || calls < 1 || calls > MOST_CALLS)
        return 2;
    measured = calloc((size_t)(count * calls), sizeof *measured);
    if (!measured)
        return 1;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, measured + i * calls);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    const int all = count * calls;
    qsort(measured, (size_t)all, sizeof *measured, compare);
    printf("%d", all);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        printf(" %ju %ju", percentile(all, shown[i] - 5), percentile(all, shown[i] + 5));
    putchar('\n');
    fflush(stdout);
    if (argc > 3)
        kill(getpid(), SIGKILL);
    return 0;
}
