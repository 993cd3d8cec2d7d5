/*
 * Makes more calls than a ring holds, and prints their values: ringed how [rounds]
 *   steps    `rounds` calls of `step` within one of `outer`: "n|result"; then it kills itself if the third argument is
 *            "killed"
 *   threads  `rounds` calls in each of four threads, with values from 1000000 * thread on, which are not printed
 *   fork     the same in a process and its child, from 1000000 and 2000000 on
 *   signals  the same in a process with a handler that calls `step` with values from 1000000 on
 *   texts    calls of `speak`, each with a text of 200 bytes
 *   slow     calls of `handle`, each with `rounds` calls of `step`: the last of ten sleeps for 30 ms, and has kind 1
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))
#define PLAIN __attribute__((no_instrument_function))

static volatile uint64_t sink;
static long rounds;

NOT_INLINED static long step(long n)
{
    const long result = 3 * n + 1;
    sink += (uint64_t)n;
    return result;
}

static void steps(long first, int printed)
{
    for (long i = first; i < first + rounds; i++) {
        const long result = step(i);
        if (printed)
            printf("%ld|%ld\n", i, result);
    }
}

NOT_INLINED static long outer(long n, const char *name)
{
    steps(0, 1);
    sink += strlen(name);
    return n + (long)(sink % 3);
}

static void *thread_steps(void *number)
{
    steps(1000000 * (long)(intptr_t)number, 0);
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, thread_steps, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
}

static void forks(void)
{
    const pid_t child = fork();
    steps(child ? 1000000 : 2000000, 0);
    if (child)
        waitpid(child, NULL, 0);
}

static volatile long handled;

static void on_alarm(int number)
{
    (void)number;
    for (int i = 0; i < 10; i++, handled = handled + 1)
        step(1000000 + handled);
}

static void in_signals(void)
{
    const struct itimerval timer = { { 0, 500 }, { 0, 500 } }, none = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    steps(0, 0);
    while (!handled)
        step(rounds);
    setitimer(ITIMER_REAL, &none, NULL);
}

NOT_INLINED static size_t speak(long n, const char *text)
{
    sink += (uint64_t)n;
    return strlen(text);
}

static void texts(void)
{
    char text[201] = "";
    memset(text, 'x', sizeof text - 1);
    for (long i = 0; i < rounds; i++)
        speak(i, text);
}

NOT_INLINED static long handle(long n, int kind)
{
    const long result = 2 * n;
    for (long i = 0; i < rounds; i++)
        step(n);
    if (kind)
        usleep(30000);
    sink += (uint64_t)kind;
    return result;
}

static void slow(void)
{
    for (long n = 0; n < 100; n++)
        handle(n, n % 10 == 9);
}

PLAIN int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    step(-1); /* the runtime finds the program */
    if (strcmp(how, "steps") == 0)
        outer(7, "a name");
    else if (strcmp(how, "threads") == 0)
        threads();
    else if (strcmp(how, "fork") == 0)
        forks();
    else if (strcmp(how, "signals") == 0)
        in_signals();
    else if (strcmp(how, "texts") == 0)
        texts();
    else if (strcmp(how, "slow") == 0)
        slow();
    fflush(stdout);
    if (argc > 3 && strcmp(argv[3], "killed") == 0)
        raise(SIGKILL);
    return 0;
}
