/* A timer signal every 50 microseconds, whose handler calls instrumented functions while others run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile long leaves, middles, handlers, handler_leaves;

__attribute__((noinline)) static void leaf(void)
{
    leaves++;
}

__attribute__((noinline)) static void middle(void)
{
    middles++;
    leaf();
    leaf();
}

__attribute__((noinline)) static void handler_leaf(void)
{
    handler_leaves++;
}

static timer_t timer;

/* After a handler, the program has this time before the next signal, on a slow machine as well. */
__attribute__((no_instrument_function)) static void set_timer(void)
{
    const long every = 50000; /* nanoseconds */
    const struct itimerspec spec = { { 0, 0 }, { 0, every } };
    timer_settime(timer, 0, &spec, NULL);
}

static void handler(int number)
{
    (void)number;
    handlers++;
    for (int i = 0; i < 3; i++)
        handler_leaf();
    set_timer();
}

int main(int argc, char **argv)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    signal(SIGALRM, handler);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    set_timer();
    for (long i = argc > 1 ? atol(argv[1]) : 1000; i > 0; i--)
        middle();
    signal(SIGALRM, SIG_IGN);
    printf("calls leaf %ld\ncalls middle %ld\ncalls handler %ld\ncalls handler_leaf %ld\n", leaves, middles, handlers,
           handler_leaves);
    return 0;
}
