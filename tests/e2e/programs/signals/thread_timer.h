/* A timer that sends a signal to the calling thread again and again. Each program includes it once. */
#ifndef THREAD_TIMER_H
#define THREAD_TIMER_H

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* `interval`: nanoseconds; zero for a timer that never expires. */
__attribute__((no_instrument_function)) static timer_t start_timer(int number, long interval)
{
    struct sigevent event = { .sigev_signo = number, .sigev_notify = SIGEV_THREAD_ID };
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    const struct itimerspec spec = { { 0, interval }, { 0, interval } };
    timer_settime(timer, 0, &spec, NULL);
    return timer;
}

#endif
