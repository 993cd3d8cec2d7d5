/*
 * oscalls CALLS: measures calls of the OS, in nanoseconds: a write of one byte to /dev/null, a write of one byte to a
 * pipe and its read, locking and unlocking a free mutex, and one for which two threads compete. First no instrumented
 * function is open, so nothing is recorded; then one is. Each figure is the minimum of ten runs of CALLS calls:
 *
 *     outside 91.4 312.0 2.4 inside 130.2 405.5 2.9 together 139.2 148.3
 */
#define _GNU_SOURCE /* clock_gettime */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function)) /* has no probes of its own */

enum { RUNS = 10, HELD_STEPS = 300, FEWER = 10 /* calls of what takes longer */ };

static long calls;
static int null;
static int ends[2]; /* of a pipe */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

UNSEEN static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

UNSEEN static void write_byte(int fd)
{
    if (write(fd, "x", 1) != 1)
        abort();
}

UNSEEN static void use_null(long times)
{
    for (long i = 0; i < times; i++)
        write_byte(null);
}

UNSEEN static void use_pipe(long times)
{
    char byte;
    for (long i = 0; i < times; i++) {
        write_byte(ends[1]);
        if (read(ends[0], &byte, 1) != 1)
            abort();
    }
}

UNSEEN static void use_free_lock(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

UNSEEN static void use_taken_lock(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        for (volatile int step = 0; step < HELD_STEPS; step++)
            ;
        pthread_mutex_unlock(&mutex);
    }
}

/* Its calls are recorded where the thread that began this one records. */
static void *contend_inside(void *times)
{
    use_taken_lock((long)times);
    return NULL;
}

UNSEEN static void *contend_outside(void *times)
{
    use_taken_lock((long)times);
    return NULL;
}

UNSEEN static void contend(long times, void *(*other_one)(void *))
{
    pthread_t other;
    if (pthread_create(&other, NULL, other_one, (void *)(times / 2)) != 0)
        abort();
    use_taken_lock(times / 2);
    pthread_join(other, NULL);
}

UNSEEN static void contend_recorded(long times)
{
    contend(times, contend_inside);
}

UNSEEN static void contend_unrecorded(long times)
{
    contend(times, contend_outside);
}

UNSEEN static double measure(void (*use)(long), long times)
{
    double least = 1e30;
    for (int run = 0; run < RUNS; run++) {
        const double begin = nanoseconds();
        use(times);
        const double took = nanoseconds() - begin;
        least = took < least ? took : least;
    }
    return least / (double)times;
}

UNSEEN static void print(const char *where)
{
    const double null_took = measure(use_null, calls), pipe_took = measure(use_pipe, calls / FEWER);
    printf("%s %.1f %.1f %.1f ", where, null_took, pipe_took, measure(use_free_lock, calls));
}

static void inside(void)
{
    print("inside");
}

static void inside_together(void)
{
    printf("%.1f\n", measure(contend_recorded, calls / FEWER));
}

UNSEEN int main(int argc, char **argv)
{
    calls = argc == 2 ? atol(argv[1]) : 0;
    null = open("/dev/null", O_WRONLY);
    if (calls <= 0 || null < 0 || pipe(ends) != 0)
        return EXIT_FAILURE;
    inside(); /* from here on the runtime knows the thread */
    putchar('\n');
    print("outside");
    inside();
    printf("together %.1f ",
           measure(contend_unrecorded, calls / FEWER)); /* last: a free lock costs more where threads have begun */
    inside_together();
    return EXIT_SUCCESS;
}
