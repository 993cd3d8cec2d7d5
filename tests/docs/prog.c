/* The program of the documents: it has the functions, threads, marks, events and timers that their commands name. With
 * SERVER_STAYS it runs until it is killed. */
#include <dwell/dwell.h>
#include <dwell/event.h>
#ifdef WITH_PERFLOG
#include <dwell/perflog.h>
#else
#define Perf_RegisterMark(marker, text)
#define Perf_MarkBegin(marker)
#define Perf_MarkEnd(marker)
#endif
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static struct dwell_event_class requests =
    DWELL_EVENT_CLASS("shop-requests", 0x9a1c5b7e, 0x2f30, 0x4d11, 0x8e, 0x02, 0x5c, 0x71, 0x0b, 0x6f, 0x3d, 0x94);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned sum;

static void hash_name(unsigned name)
{
    for (int i = 0; i < 50; i++)
        sum = sum * 33 + name;
}

static void parse_line(unsigned line)
{
    for (int i = 0; i < 200; i++)
        sum += line;
    hash_name(line);
}

static void parse(unsigned lines)
{
    for (unsigned i = 0; i < lines; i++)
        parse_line(i);
}

static void handle(void)
{
    dwell_event_write(&requests, EVENT_TRACE_TYPE_START, TRACE_LEVEL_INFORMATION, 0, NULL, 0);
    pthread_mutex_lock(&lock);
    usleep(500);
    pthread_mutex_unlock(&lock);
    dwell_event_write(&requests, EVENT_TRACE_TYPE_END, TRACE_LEVEL_INFORMATION, 0, NULL, 0);
}

static void *worker(void *unused)
{
    dwell_name(DWELL_THREAD, DWELL_CURRENT, "worker");
    for (int i = 0; i < 5; i++) {
        parse(100);
        handle();
    }
    return unused;
}

static void run_workers(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    dwell_event_register(&requests);
    Perf_RegisterMark(1, "Test=WriteFile");
    Perf_MarkBegin(1);
    parse(500);
    Perf_MarkEnd(1);
    dwell_mark_comment(1, "loaded");
    do
        run_workers();
    while (getenv("SERVER_STAYS"));
    return 0;
}
