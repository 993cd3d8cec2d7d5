/*
 * orders N: trace events (dwell/event.h). N orders enter a queue, and two cooks take them from there.
 *
 *     dwell record --event '*' orders 100
 *     dwell events --queues --key 4      how long orders waited, and how long cooking took
 *     dwell events --type CHECKPOINT --stack
 *
 * Without --event, or without dwell, each event costs a load and a branch. The report should count N calls of order and
 * of cook. The session should have N events each of START, DEQUEUE, CHECKPOINT and END. Their first four bytes are the
 * order's number.
 */
#define _GNU_SOURCE 1
#include <dwell/event.h>
#include <pthread.h>
#include <stdbool.h>

#include "sample.h"

enum { COOKS = 2, MAX = 100000 };

static struct dwell_event_class orders =
    DWELL_EVENT_CLASS("orders", 0x3f1de6a4, 0x7c52, 0x4b0e, 0x9d, 0x61, 0x28, 0xe7, 0x5a, 0x0c, 0xb3, 0x49);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static uint32_t queue[MAX];
static size_t ordered, taken;
static bool closed;
static unsigned long order_calls, cook_calls, take_calls;

static SAMPLE_NOT_INSTRUMENTED void tell(uint8_t type, uint8_t level, uint32_t number)
{
    dwell_event_write(&orders, type, level, 0, &number, sizeof number);
}

static void order(uint32_t number)
{
    order_calls++;
    tell(EVENT_TRACE_TYPE_START, TRACE_LEVEL_INFORMATION, number);
    pthread_mutex_lock(&lock);
    queue[ordered++] = number;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}

static volatile uint32_t pot;

/* Boils eggs. */
static void cook(uint32_t number)
{
    __atomic_fetch_add(&cook_calls, 1, __ATOMIC_RELAXED);
    uint32_t eggs = number;
    for (int i = 0; i < 20000; i++)
        eggs = eggs * 1664525 + 1013904223;
    pot = eggs;
    if (dwell_event_enabled(&orders, TRACE_LEVEL_VERBOSE)) /* the data is expensive to gather */
        tell(EVENT_TRACE_TYPE_CHECKPOINT, TRACE_LEVEL_VERBOSE, number);
}

/* Returns false if no more orders will come. */
static bool take(uint32_t *number)
{
    __atomic_fetch_add(&take_calls, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
    while (taken == ordered && !closed)
        pthread_cond_wait(&more, &lock);
    const bool any = taken < ordered;
    if (any)
        *number = queue[taken++];
    pthread_mutex_unlock(&lock);
    return any;
}

static void *kitchen(void *nothing)
{
    for (uint32_t number; take(&number);) {
        tell(EVENT_TRACE_TYPE_DEQUEUE, TRACE_LEVEL_INFORMATION, number);
        cook(number);
        tell(EVENT_TRACE_TYPE_END, TRACE_LEVEL_INFORMATION, number);
    }
    return nothing;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        sample_usage("orders N");
    const long count = sample_number(argv[1], 0, MAX);
    dwell_event_register(&orders); /* works the same without recording */

    pthread_t cooks[COOKS];
    for (int i = 0; i < COOKS; i++)
        pthread_create(&cooks[i], NULL, kitchen, NULL);
    for (long i = 0; i < count; i++)
        order((uint32_t)i);
    pthread_mutex_lock(&lock);
    closed = true;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < COOKS; i++)
        pthread_join(cooks[i], NULL);

    printf("calls order %lu\ncalls cook %lu\ncalls take %lu\ncalls kitchen %d\ncalls main 1\n", order_calls, cook_calls,
           take_calls, COOKS);
    return EXIT_SUCCESS;
}
