/*
 * signals MICROSECONDS ROUNDS: what signals cost a program that has a handler with calls of its own. Does a fixed work
 * of calls, while a timer sends a signal each time so many microseconds are over; none if it is 0. Prints the CPU time
 * of the work in seconds, and the number of signals that were handled.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile unsigned sum, handled;

__attribute__((noinline)) static void leaf(unsigned i)
{
    for (unsigned j = 0; j < 1000; j++)
        sum += i ^ j;
}

__attribute__((noinline)) static void work(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        leaf(i);
}

__attribute__((noinline)) static void handle(int signal)
{
    handled++;
    leaf((unsigned)signal);
}

PLAIN static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

PLAIN int main(int argc, char **argv)
{
    const long interval = argc > 1 ? atol(argv[1]) * 1000 : 0;
    const unsigned rounds = argc > 2 ? (unsigned)atol(argv[2]) : 1;
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    timer_t timer;
    work(1000);
    if (sigaction(SIGALRM, &action, NULL) < 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
        return 1;
    const struct timespec time = { interval / 1000000000, interval % 1000000000 };
    if (interval && timer_settime(timer, 0, &(struct itimerspec){ time, time }, NULL) < 0)
        return 1;
    const double begin = cpu_seconds();
    work(rounds);
    printf("%.6f %u\n", cpu_seconds() - begin, handled);
    return 0;
}
