/* first_act KIND: on one processor, a consumer waits with the lowest priority. A first thread acts, and a second one
 * works and acts, too, before the consumer gets the processor. Exits with 77 where real-time priorities are refused. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "resting.h"

enum { SKIPPED = 77, LOWEST = 1 };

static const char *kind;
static int event, ends[2];
static sem_t tokens, go;
static volatile pid_t waiting; /* the thread that is about to wait */

UNSEEN static void priority(int policy, int value)
{
    const struct sched_param wanted = { .sched_priority = value };
    if (sched_setscheduler(0, policy, &wanted) != 0)
        exit(SKIPPED);
}

UNSEEN static void act(void)
{
    const uint64_t one = 1;
    if (strcmp(kind, "eventfd") == 0)
        (void)!write(event, &one, sizeof one);
    else if (strcmp(kind, "pipe") == 0)
        (void)!write(ends[1], "x", 1);
    else
        sem_post(&tokens);
}

static void act_first(void)
{
    act();
}

static void act_second(void)
{
    struct timespec begun, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000L * MS + now.tv_nsec - begun.tv_nsec < (long)WAIT_MS * MS);
    act();
}

static void consume(void)
{
    uint64_t value;
    if (strcmp(kind, "eventfd") == 0)
        (void)!read(event, &value, sizeof value);
    else if (strcmp(kind, "pipe") == 0)
        (void)!read(ends[0], &value, 1);
    else
        sem_wait(&tokens);
}

static void *run_first(void *unused)
{
    priority(SCHED_FIFO, LOWEST + 1);
    act_first();
    sem_post(&go);
    return unused;
}

static void *run_second(void *unused)
{
    waiting = gettid();
    sem_wait(&go);
    priority(SCHED_FIFO, LOWEST);
    act_second();
    return unused;
}

static void *run_consumer(void *unused)
{
    priority(SCHED_IDLE, 0);
    waiting = gettid();
    consume();
    return unused;
}

/* Starts the thread, and returns a while after it has begun to wait. */
UNSEEN static pthread_t start_waiting(void *(*run)(void *))
{
    pthread_t thread;
    waiting = 0;
    pthread_create(&thread, NULL, run, NULL);
    while (!waiting)
        pass(1);
    rest_until_waits(waiting);
    return thread;
}

UNSEEN static void use_one_processor(void)
{
    cpu_set_t all, one;
    int number = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(number, &all))
        number++;
    CPU_ZERO(&one);
    CPU_SET(number, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
    pthread_t first;
    kind = argc > 1 ? argv[1] : "";
    use_one_processor();
    event = eventfd(0, 0);
    sem_init(&tokens, 0, 0);
    sem_init(&go, 0, 0);
    if (event < 0 || pipe(ends) != 0)
        return 1;
    const pthread_t consumer = start_waiting(run_consumer), second = start_waiting(run_second);
    pthread_create(&first, NULL, run_first, NULL);
    /* Only the consumer is waited for, so the path goes through it. */
    pthread_detach(first);
    pthread_detach(second);
    pthread_join(consumer, NULL);
    return 0;
}
