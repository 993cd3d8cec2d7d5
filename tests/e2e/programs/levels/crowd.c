/*
 * crowd THREADS ROUNDS: all calls of 140 functions in as many pages of code are counted in place, until there are too
 * many threads for that. Prints the program's own counts. Exits with status 4 if the calls stay counted in place.
 */
#include <pthread.h>
#include <stdio.h>

#include "in_place.h"

#define PLAIN __attribute__((no_instrument_function))
#define HOT(number)                                                                                                    \
    __asm__(".text\n.skip 4032");                                                                                      \
    __attribute__((noinline)) void hot_##number(void)                                                                  \
    {                                                                                                                  \
        __asm__ volatile("");                                                                                          \
    }
#define TEN(tens)                                                                                                      \
    X(tens##0) X(tens##1) X(tens##2) X(tens##3) X(tens##4) X(tens##5) X(tens##6) X(tens##7) X(tens##8) X(tens##9)
#define ALL TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) TEN(12) TEN(13) TEN(14)

#define X(number) HOT(number)
ALL
#undef X

    static unsigned long rounds;

__attribute__((noinline)) void call_all(void)
{
#define X(number) hot_##number();
    ALL
#undef X
}

PLAIN static void *run(void *data)
{
    pthread_barrier_wait(data);
    for (unsigned long i = 0; i < rounds; i++)
        call_all();
    pthread_barrier_wait(data);
    return NULL;
}

static unsigned long meanwhile;

PLAIN static void call_once(void)
{
    call_all();
    meanwhile++;
}

PLAIN int main(int argc, char **argv)
{
    enum { MOST = 512 };
    const int threads = argc > 2 ? atoi(argv[1]) : 0;
    pthread_t list[MOST];
    pthread_barrier_t barrier;
    rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    wait_for_place(hot_149, call_once);
    for (int i = 0; i < threads; i++)
        pthread_create(&list[i], NULL, run, &barrier);
    pthread_barrier_wait(&barrier);
    for (int i = 0; is_in_place(hot_149) || is_in_place(hot_10); i++) {
        if (i == 60000)
            return 4;
        usleep(1000);
        call_once();
    }
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < threads; i++)
        pthread_join(list[i], NULL);
#define X(number) printf("calls hot_" #number " %lu\n", (unsigned long)threads *rounds + meanwhile);
    ALL
#undef X
        return 0;
}
