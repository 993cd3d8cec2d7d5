/*
 * Timers that send signals to the calling thread again and again: SIGUSR1, SIGUSR2, or both. The handler sets its timer
 * anew. So the program has the same time between two signals on every machine, and the signals come as fast as the
 * machine delivers them. A timer with a fixed rate may leave a slow machine no time for anything but handlers. Each
 * program includes it once.
 */
#ifndef THREAD_TIMER_H
#define THREAD_TIMER_H

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static __thread struct {
    timer_t timer;
    long interval;
} thread_timers[2];

__attribute__((no_instrument_function)) static void set_thread_timer(int which)
{
    const struct itimerspec spec = { { 0, 0 }, { 0, thread_timers[which].interval } };
    timer_settime(thread_timers[which].timer, 0, &spec, NULL);
}

/* The handler of a timer's signal calls it before it returns or leaves. A timer that is deleted stays so. */
__attribute__((no_instrument_function)) static void next_signal(int number)
{
    const int error = errno;
    set_thread_timer(number != SIGUSR1);
    errno = error;
}

/* `interval`: nanoseconds up to the first signal, and from one handler's end to the next signal; zero for a timer that
 * never expires. */
__attribute__((no_instrument_function)) static timer_t start_timer(int number, long interval)
{
    const int which = number != SIGUSR1;
    struct sigevent event = { .sigev_signo = number, .sigev_notify = SIGEV_THREAD_ID };
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    timer_create(CLOCK_MONOTONIC, &event, &thread_timers[which].timer);
    thread_timers[which].interval = interval;
    set_thread_timer(which);
    return thread_timers[which].timer;
}

#endif
