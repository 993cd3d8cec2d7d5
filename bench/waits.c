/* waits EVENTS WAITS: two threads that work in turn, under a lock, and wait for each other by semaphores. Together they
 * make about so many events and waits. Compiled with -finstrument-functions. */
#include <err.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define UNSEEN __attribute__((no_instrument_function))

enum { EVENTS_OF_CALL = 2, LEAVES = 8 };

static sem_t turns[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t rounds, calls;
static volatile uint64_t sum;

static __attribute__((noinline)) void leaf(void)
{
    sum++;
}

static __attribute__((noinline)) void branch(void)
{
    for (int i = 0; i < LEAVES; i++)
        leaf();
}

static __attribute__((noinline)) void hold_lock(void)
{
    pthread_mutex_lock(&lock);
    for (uint64_t i = 0; i < calls; i++)
        branch();
    pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void await_turn(sem_t *turn)
{
    if (sem_wait(turn))
        err(1, "sem_wait");
}

static __attribute__((noinline)) void give_turn(sem_t *turn)
{
    if (sem_post(turn))
        err(1, "sem_post");
}

static void *work(void *number)
{
    const int own = number != NULL;
    for (uint64_t i = 0; i < rounds; i++) {
        await_turn(&turns[own]);
        hold_lock();
        give_turn(&turns[!own]);
    }
    return NULL;
}

UNSEEN int main(int argc, char **argv)
{
    if (argc != 3)
        errx(1, "usage: waits EVENTS WAITS");
    pthread_t other;
    rounds = strtoull(argv[2], NULL, 10) / 2;
    calls = strtoull(argv[1], NULL, 10) / (2 * rounds) / (EVENTS_OF_CALL * (LEAVES + 1));
    if (sem_init(&turns[0], 0, 1) || sem_init(&turns[1], 0, 0) || pthread_create(&other, NULL, work, turns))
        err(1, "starting");
    work(NULL);
    pthread_join(other, NULL);
    return 0;
}
