/* A thread that sleeps on a futex in the session header and prints one warning when the session reaches a size. The
 * size is 4 GiB, or DWELL_WARN_SIZE bytes. */
#include "commands/size_warning.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/commands.h"

enum { SIZE_REACHED = 1, SIZE_WATCH_ENDED = 2 }; /* values of the header's `warned` */

static void *size_warning_run(void *argument)
{
    struct size_warning *w = argument;
    while (__atomic_load_n(&w->header->warned, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &w->header->warned, FUTEX_WAIT, 0, NULL, NULL, 0);
    if (__atomic_load_n(&w->header->warned, __ATOMIC_ACQUIRE) == SIZE_REACHED)
        say("%s has %.1f GiB and grows; --max-size, --mode profile and filters keep it smaller", w->shown,
            (double)w->header->cursor / (1 << 30));
    return NULL;
}

void size_warning_start(struct size_warning *w, struct dwell_file_header *header, const char *shown)
{
    const char *size = getenv("DWELL_WARN_SIZE");
    *w = (struct size_warning){ .header = header, .shown = shown };
    header->warn_size = size ? strtoull(size, NULL, 10) : 4ull << 30;
    if (header->warn_size == 0)
        return;
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    w->running = pthread_create(&w->thread, NULL, size_warning_run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void size_warning_stop(struct size_warning *w)
{
    if (!w->running)
        return;
    uint32_t not_reached = 0;
    __atomic_compare_exchange_n(&w->header->warned, &not_reached, SIZE_WATCH_ENDED, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    syscall(SYS_futex, &w->header->warned, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    pthread_join(w->thread, NULL);
}
