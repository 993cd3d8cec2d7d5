/*
 * threads [--waves W] N M: many threads that all call the same function.
 *
 * N threads run at the same time, and each calls work M times. With --waves, W such groups follow one another, so that
 * N * W threads come and go. The report should count W * N * M calls of work and W * N of worker. It should list W * N
 * threads beside the main one, each with M calls of work.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "sample.h"

/* Each thread counts for itself and adds up once: a shared counter would slow down all of them. */
static _Thread_local unsigned long my_work_calls;
static atomic_ulong work_calls;
static atomic_ulong worker_calls;
static unsigned long run_wave_calls;

static long calls_per_thread;
static pthread_barrier_t all_here;

static unsigned long work(unsigned long value)
{
    my_work_calls++;
    return value * 2862933555777941757u + 3037000493u;
}

/* No thread starts before all exist: N threads really live at the same time. */
static void *worker(void *seed)
{
    atomic_fetch_add(&worker_calls, 1);
    unsigned long value = (unsigned long)seed;

    pthread_barrier_wait(&all_here);
    for (long i = 0; i < calls_per_thread; i++)
        value = work(value);
    atomic_fetch_add(&work_calls, my_work_calls);
    return (void *)value;
}

static void run_wave(pthread_t *threads, long count)
{
    run_wave_calls++;
    for (long i = 0; i < count; i++) {
        int error = pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
        if (error != 0) {
            fprintf(stderr, "threads: thread %ld of %ld: %s\n", i + 1, count, strerror(error));
            exit(EXIT_FAILURE);
        }
    }
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    long waves = 1;
    if (argc > 2 && strcmp(argv[1], "--waves") == 0) {
        waves = sample_number(argv[2], 1, 1000000);
        argc -= 2;
        argv += 2;
    }
    if (argc != 3)
        sample_usage("threads [--waves W] N M");
    long count = sample_number(argv[1], 1, 100000);
    calls_per_thread = sample_number(argv[2], 0, 1000000000);

    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    if (threads == NULL) {
        perror("threads");
        return EXIT_FAILURE;
    }
    pthread_barrier_init(&all_here, NULL, (unsigned)count);
    for (long i = 0; i < waves; i++)
        run_wave(threads, count);
    pthread_barrier_destroy(&all_here);
    free(threads);

    printf("calls work %lu\n", work_calls);
    printf("calls worker %lu\n", worker_calls);
    printf("calls run_wave %lu\n", run_wave_calls);
    printf("calls main 1\n");
    return EXIT_SUCCESS;
}
