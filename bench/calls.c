/* Calls a library and a function of its own. `calls cost` prints nanoseconds of both, the best of 300 rounds. `calls N`
 * calls the library N times in 4 threads, and prints how often it was called by its own count. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

long library_step(long n);
void library_end(void);
long library_counted(void);

enum { THREADS = 4, ROUNDS = 300, CALLS = 20000 };

#define UNSEEN __attribute__((no_instrument_function))

static __attribute__((noinline)) long own_step(long n)
{
    __asm__ volatile("");
    return n + 1;
}

UNSEEN static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

UNSEEN static void *work(void *calls)
{
    volatile long sum = 0;
    for (long i = *(long *)calls / THREADS; i > 0; i--)
        sum = library_step(sum);
    library_end();
    return NULL;
}

UNSEEN static void count(long calls)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &calls);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", library_counted());
}

UNSEEN int main(int argc, char **argv)
{
    double own = 1e9, library = 1e9;
    volatile long sum = 0;
    if (argc > 1 && strcmp(argv[1], "cost") != 0) {
        count(strtol(argv[1], NULL, 10));
        return 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        const double first = now();
        for (int i = 0; i < CALLS; i++)
            sum = own_step(sum);
        const double middle = now();
        for (int i = 0; i < CALLS; i++)
            sum = library_step(sum);
        const double last = now();
        own = (middle - first) / CALLS < own ? (middle - first) / CALLS : own;
        library = (last - middle) / CALLS < library ? (last - middle) / CALLS : library;
    }
    printf("%.2f %.2f\n", own, library);
    return 0;
}
