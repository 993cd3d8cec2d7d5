/* A thread that sleeps on a futex in the session header and prints one warning when the session reaches a size. */
#include "recorder/size_warning.h"

#include "base/message.h"
#include "recorder/service_thread.h"
#include "sys.h"

enum { SIZE_REACHED = 1, SIZE_WATCH_ENDED = 2 }; /* values of the header's `warned` */

static void *size_warning_run(void *argument)
{
    struct size_warning *w = argument;
    while (__atomic_load_n(&w->header->warned, __ATOMIC_ACQUIRE) == 0)
        sys_futex_wait_shared(&w->header->warned, 0, SERVICE_PATIENCE);
    if (__atomic_load_n(&w->header->warned, __ATOMIC_ACQUIRE) == SIZE_REACHED)
        say("%s has %.1f GiB and grows; --max-size, --mode profile and filters keep it smaller", w->shown,
            (double)w->header->cursor / (1 << 30));
    return NULL;
}

void size_warning_start(struct size_warning *w, struct dwell_file_header *header, const char *shown, uint64_t size)
{
    *w = (struct size_warning){ .header = header, .shown = shown };
    header->warn_size = size;
    if (size == 0)
        return;
    w->running = service_thread_start(&w->thread, size_warning_run, w);
}

void size_warning_stop(struct size_warning *w)
{
    if (!w->running)
        return;
    uint32_t not_reached = 0;
    __atomic_compare_exchange_n(&w->header->warned, &not_reached, SIZE_WATCH_ENDED, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    sys_futex_wake_shared(&w->header->warned);
    pthread_join(w->thread, NULL);
}
