/* Calls a library, an archive that is linked in, and a function of its own. `calls cost` prints nanoseconds of a call
 * of each, and of twins of the first two, which no pattern names: the best of 300 rounds. `calls N` calls the library
 * and the archive N times together in 4 threads, and prints how often each was called by its own count. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

long library_step(long n);
long library_plain(long n);
void library_end(void);
long library_counted(void);
long linked_step(long n);
long linked_plain(long n);
void linked_end(void);
long linked_counted(void);

enum { THREADS = 4, ROUNDS = 300, CALLS = 20000, KINDS = 5 };

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

/* Direct calls are recorded in code with probes. */
static void *work(void *calls)
{
    volatile long sum = 0;
    for (long i = *(long *)calls / THREADS / 2; i > 0; i--)
        sum = linked_step(library_step(sum));
    library_end();
    linked_end();
    return NULL;
}

UNSEEN static void count(long calls)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &calls);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", library_counted(), linked_counted());
}

#define MEASURE(of)                                                                                                    \
    static double measure_##of(void)                                                                                   \
    {                                                                                                                  \
        volatile long sum = 0;                                                                                         \
        const double begin = now();                                                                                    \
        for (int i = 0; i < CALLS; i++)                                                                                \
            sum = of(sum);                                                                                             \
        return (now() - begin) / CALLS;                                                                                \
    }
MEASURE(own_step)
MEASURE(library_step)
MEASURE(library_plain)
MEASURE(linked_step)
MEASURE(linked_plain)

int main(int argc, char **argv)
{
    static double (*const kinds[KINDS])(void) = { measure_own_step, measure_library_step, measure_library_plain,
                                                  measure_linked_step, measure_linked_plain };
    double best[KINDS];
    if (argc > 1 && strcmp(argv[1], "cost") != 0) {
        count(strtol(argv[1], NULL, 10));
        return 0;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < KINDS; i++) {
            const double time = kinds[i]();
            best[i] = round && best[i] < time ? best[i] : time;
        }
    for (int i = 0; i < KINDS; i++)
        printf("%.2f ", best[i]);
    printf("\n");
    return 0;
}
