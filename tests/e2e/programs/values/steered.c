/*
 * Calls functions while `dwell control` changes which values are recorded, and prints what they get:
 *   steered PREFIX PHASES [fork]  before each phase, it writes its number into the file PREFIX-at-K and waits for
 *                                 PREFIX-go-K; then it makes 100 calls of each function. With `fork`, a child does
 *                                 phases 3 and later, and the parent waits for it
 *   steered PREFIX threads        eight threads call few() with successive numbers until PREFIX-go-1 exists. Each line
 *                                 has a thread's first and last number
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))

enum { CALLS = 100, THREADS = 8 };

static volatile long sink;
static const char *prefix;
static volatile bool ends;

NOT_INLINED static long work(long n, const char *text)
{
    sink += n + (long)strlen(text);
    return 3 * n;
}

static inline __attribute__((always_inline)) long small(long n)
{
    sink += n;
    return n;
}

NOT_INLINED static long first_caller(long n)
{
    return small(n) + 1;
}

NOT_INLINED static long second_caller(long n)
{
    return small(2 * n) + 2;
}

NOT_INLINED static void few(long n)
{
    sink += n;
}

__attribute__((no_instrument_function)) static void file_name(char name[256], const char *what, int phase)
{
    snprintf(name, 256, "%s-%s-%d", prefix, what, phase);
}

__attribute__((no_instrument_function)) static void wait_for(int phase)
{
    char name[256], soon[256];
    file_name(name, "at", phase);
    file_name(soon, "soon", phase);
    FILE *at = fopen(soon, "w");
    fprintf(at, "%d\n", (int)getpid());
    fclose(at);
    rename(soon, name);
    file_name(name, "go", phase);
    while (access(name, F_OK) != 0)
        usleep(1000);
}

__attribute__((no_instrument_function)) static void run_phase(int phase)
{
    for (long i = 0; i < CALLS; i++) {
        const long n = 1000 * phase + i;
        const char *text = i % 2 ? "odd secret" : "even secret";
        printf("%ld|%s|%ld\n", n, text, work(n, text));
        printf("small|%ld\n", first_caller(n) - 1);
        printf("small|%ld\n", second_caller(n) - 2);
        few(n);
    }
    fflush(stdout);
}

__attribute__((no_instrument_function)) static void *run_thread(void *number)
{
    const long first = 100000000 * (1 + (long)number);
    long n = first;
    while (!ends) {
        few(n++);
        if (n % CALLS == 0)
            usleep(1000); /* so that the file does not become large on a slow machine */
    }
    for (int i = 0; i < CALLS; i++)
        few(n++);
    printf("%ld %ld\n", first, n - 1);
    return NULL;
}

__attribute__((no_instrument_function)) static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)i);
    wait_for(1);
    ends = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
    prefix = argv[1];
    if (strcmp(argv[2], "threads") == 0) {
        run_threads();
        return 0;
    }
    for (int phase = 1; phase <= atoi(argv[2]); phase++) {
        if (phase == 3 && argc > 3 && fork() != 0)
            return wait(NULL) > 0 ? 0 : 1;
        wait_for(phase);
        run_phase(phase);
    }
    return 0;
}
