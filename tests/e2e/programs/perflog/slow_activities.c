/* slow_activities CALLS: so many requests, each a timer of PerfLog (marker 7, "Test=Request,Kind=small") around an
 * activity of the class "shop". Every tenth takes 200 ms. An activity of the class "queue" is put there by the main
 * thread, and taken and done by another one, of which the last takes 200 ms. One timer fails, as slow as it is. With
 * the second argument "wait", it waits for the file "go" before the first request. With "many", it has CALLS activities
 * of the class "shop" open at once, all of which take 200 ms, and does nothing else. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dwell/event.h"
#include "dwell/perflog.h"

enum { NAP_MS = 200, EACH = 10, QUEUED = 5 };

static struct dwell_event_class shop =
    DWELL_EVENT_CLASS("shop", 0x11111111, 0x2222, 0x3333, 0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55);
static struct dwell_event_class queue =
    DWELL_EVENT_CLASS("queue", 0x11111111, 0x2222, 0x3333, 0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x56);

static void event(const struct dwell_event_class *class, uint8_t type)
{
    dwell_event_write(class, type, TRACE_LEVEL_INFORMATION, 0, NULL, 0);
}

static void nap(unsigned ms)
{
    const struct timespec time = { 0, ms * 1000000L };
    nanosleep(&time, NULL);
}

static void request(int slow)
{
    Perf_MarkBegin(7);
    event(&shop, EVENT_TRACE_TYPE_START);
    if (slow)
        nap(NAP_MS);
    event(&shop, EVENT_TRACE_TYPE_END);
    Perf_MarkEnd(7);
}

static void *serve(void *unused)
{
    (void)unused;
    for (int i = 1; i <= QUEUED; i++) {
        event(&queue, EVENT_TRACE_TYPE_DEQUEUE);
        if (i == QUEUED)
            nap(NAP_MS);
        event(&queue, EVENT_TRACE_TYPE_END);
    }
    return NULL;
}

static void queue_up(void)
{
    pthread_t thread;
    for (int i = 0; i < QUEUED; i++)
        event(&queue, EVENT_TRACE_TYPE_START);
    nap(NAP_MS); /* time in the queue does not count */
    pthread_create(&thread, NULL, serve, NULL);
    pthread_join(thread, NULL);
}

static void many(int count)
{
    for (int i = 0; i < count; i++)
        event(&shop, EVENT_TRACE_TYPE_START);
    nap(NAP_MS);
    for (int i = 0; i < count; i++)
        event(&shop, EVENT_TRACE_TYPE_END);
}

int main(int argc, char **argv)
{
    const int requests = argc > 1 ? atoi(argv[1]) : 0;
    const char *how = argc > 2 ? argv[2] : "";
    dwell_event_register(&shop);
    dwell_event_register(&queue);
    Perf_RegisterMark(7, "Test=Request,Kind=small");
    Perf_RegisterMark(8, "Test=Failed");
    if (strcmp(how, "many") == 0) {
        many(requests);
        return 0;
    }
    while (strcmp(how, "wait") == 0 && access("go", F_OK) != 0)
        nap(1);
    for (int i = 1; i <= requests; i++)
        request(i % EACH == 0);
    queue_up();
    Perf_MarkBegin(8);
    nap(NAP_MS);
    Perf_MarkError(8);
    return 0;
}
