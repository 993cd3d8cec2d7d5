/* pauser TIMES: a timer signal every 100 microseconds. Its handler pauses its thread, and the next one resumes it. */
#include <dwell/dwell.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEPT __attribute__((noinline))

static volatile long leaves, middles, handler_leaves;
static volatile sig_atomic_t paused;

/* Counts a call if it is recorded. The signal is blocked between the two. */
KEPT __attribute__((no_instrument_function)) static void hold(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(how, &set, NULL);
}

KEPT static void leaf(void)
{
    __asm__ volatile("");
}

KEPT static void middle(void)
{
    __asm__ volatile("");
    leaf();
    leaf();
    __asm__ volatile("");
}

KEPT static void handler_leaf(void)
{
    handler_leaves++;
}

static timer_t timer;

/* After a handler, the program has this time before the next signal, on a slow machine as well. */
__attribute__((no_instrument_function)) static void set_timer(void)
{
    const struct itimerspec spec = { { 0, 0 }, { 0, 100000 } };
    timer_settime(timer, 0, &spec, NULL);
}

__attribute__((no_instrument_function)) static void handler(int number)
{
    (void)number;
    dwell_pause(DWELL_THREAD, DWELL_CURRENT);
    middle();
    dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    handler_leaf();
    paused++;
    set_timer();
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    signal(SIGALRM, handler);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    set_timer();
    for (long i = argc > 1 ? atol(argv[1]) : 1000; i > 0; i--) {
        middle();
        middles++;
        leaves += 2;
    }
    hold(SIG_BLOCK);
    printf("calls leaf %ld\ncalls middle %ld\ncalls handler_leaf %ld\n", leaves, middles, handler_leaves);
    return paused > 0 ? 0 : 1;
}
