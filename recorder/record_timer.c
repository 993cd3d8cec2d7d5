/* A thread that sleeps for the time of dwell record --for, and then pauses the recording as `dwell control FILE pause`
 * does. */
#include "recorder/record_timer.h"

#include <time.h>

#include "base/counted_text.h"
#include "base/duration.h"
#include "base/message.h"
#include "dwell/format.h"
#include "recorder/control_chunk.h"
#include "recorder/service_thread.h"

/* False if the program has ended before. */
static bool record_timer_wait(struct record_timer *t)
{
    const uint64_t second = 1000000000;
    struct timespec end;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const uint64_t nanoseconds = (uint64_t)end.tv_nsec + t->ns % second;
    end.tv_sec += (time_t)(t->ns / second + nanoseconds / second);
    end.tv_nsec = (long)(nanoseconds % second);
    pthread_mutex_lock(&t->lock);
    while (!t->stop && waited == 0)
        waited = pthread_cond_timedwait(&t->wake, &t->lock, &end);
    const bool over = !t->stop;
    pthread_mutex_unlock(&t->lock);
    return over;
}

static void *record_timer_run(void *argument)
{
    struct record_timer *t = argument;
    if (!record_timer_wait(t))
        return NULL;
    const size_t deaf = control_chunks_pause(t->fd, t->header);
    char text[DURATION_TEXT];
    duration_text(t->ns, text);
    if (deaf)
        say("--for: %s %s no commands, so %s recorded on", COUNTED(deaf, "process"),
            counted_word(deaf, "takes", "take"), counted_word(deaf, "it is", "they are"));
    else if (!t->quiet)
        say("recorded for %s; %s goes on without", text, t->program);
    return NULL;
}

void record_timer_start(struct record_timer *t, struct dwell_file_header *header, int fd, uint64_t ns,
                        const char *program, bool quiet)
{
    *t = (struct record_timer){ .header = header, .fd = fd, .ns = ns, .program = program, .quiet = quiet };
    if (ns == 0)
        return;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    t->running = service_thread_start(&t->thread, record_timer_run, t);
    if (!t->running)
        say("--for: the system has no thread for it, so all is recorded");
}

void record_timer_stop(struct record_timer *t)
{
    if (!t->running)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
}
