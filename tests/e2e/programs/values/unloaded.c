/*
 * A library comes and goes while its calls are recorded. With PLUGIN, the library: take(). Otherwise:
 * unloaded LIBRARY ROUNDS CALLS  in each round, loads the library, and four threads call take() so often, with four
 *                                different arguments. Prints how often each was given: "value|calls". Calls before
 * that, until the library's values are read, have -1
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function))

#if defined(PLUGIN)

static volatile long sink;

long take(long n, const char *text);
long take(long n, const char *text)
{
    sink = sink + n + *text;
    return 3 * n;
}

#else

enum { THREADS = 4, VALUES = 4, FIRST_CALLS = 50 };

static const long numbers[VALUES] = { 0, 1, 70000, 0x7fffffffffff };
static long (*take)(long n, const char *text);
static long calls, counts[THREADS][VALUES];

PLAIN static void *call_often(void *number)
{
    unsigned state = (unsigned)(size_t)number;
    for (long i = 0; i < calls; i++) {
        state = state * 1103515245 + 12345;
        const unsigned which = state >> 16 & (VALUES - 1);
        counts[(size_t)number][which]++;
        take(numbers[which], "text");
    }
    return NULL;
}

PLAIN int main(int argc, char **argv)
{
    const long rounds = argc > 3 ? strtol(argv[2], NULL, 10) : 0;
    calls = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    for (long round = 0; round < rounds; round++) {
        pthread_t threads[THREADS];
        void *library = dlopen(argv[1], RTLD_NOW);
        take = library ? (long (*)(long, const char *))dlsym(library, "take") : NULL;
        if (!take)
            return 1;
        for (int i = 0; i < FIRST_CALLS; i++)
            take(-1, "text");
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, call_often, (void *)i);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        dlclose(library);
    }
    for (int i = 0; i < VALUES; i++)
        printf("%ld|%ld\n", numbers[i], counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i]);
    return 0;
}

#endif
