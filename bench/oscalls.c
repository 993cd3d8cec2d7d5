/*
 * oscalls CALLS: measures a write of one byte to /dev/null, and locking and unlocking a free mutex, in nanoseconds.
 * First no instrumented function is open, so nothing is recorded; then one is. Each figure is the minimum of ten runs
 * of CALLS calls:
 *
 *     outside 156.2 3.1 inside 196.0 3.4
 */
#define _GNU_SOURCE /* clock_gettime */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function)) /* has no probes of its own */

enum { RUNS = 10 };

static long calls;
static int null;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

UNSEEN static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

UNSEEN static double writing(void)
{
    double least = 1e30;
    for (int run = 0; run < RUNS; run++) {
        double begin = nanoseconds();
        for (long i = 0; i < calls; i++)
            if (write(null, "x", 1) != 1)
                abort();
        double took = nanoseconds() - begin;
        least = took < least ? took : least;
    }
    return least / (double)calls;
}

UNSEEN static double locking(void)
{
    double least = 1e30;
    for (int run = 0; run < RUNS; run++) {
        double begin = nanoseconds();
        for (long i = 0; i < calls; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        double took = nanoseconds() - begin;
        least = took < least ? took : least;
    }
    return least / (double)calls;
}

static void inside(void)
{
    printf(" inside %.1f %.1f\n", writing(), locking());
}

UNSEEN int main(int argc, char **argv)
{
    calls = argc == 2 ? atol(argv[1]) : 0;
    null = open("/dev/null", O_WRONLY);
    if (calls <= 0 || null < 0)
        return EXIT_FAILURE;
    inside(); /* from here on the runtime knows the thread */
    printf("outside %.1f %.1f", writing(), locking());
    inside();
    return EXIT_SUCCESS;
}
