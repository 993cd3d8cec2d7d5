/* Calls from known lines, a known number of times. #line sets their numbers. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwell/dwell.h"

#define APART __attribute__((noinline))
#define SILENT __attribute__((noinline, no_instrument_function))

static volatile int sink;

APART void work(void)
{
    sink++;
}

#define TWICE() (work(), work())

static inline __attribute__((always_inline)) void part(void)
{
#line 100
    work();
}

static inline __attribute__((always_inline)) void whole(void)
{
#line 105
    part();
}

APART int down(int n)
{
    if (n == 0)
        return 0;
    if (n % 2) {
#line 110
        sink += down(n - 1);
        return sink;
    }
#line 111
    return down(n - 2) + 2;
}

APART void room(int size)
{
    char *bytes = alloca((size_t)size);
    memset(bytes, 1, (size_t)size);
    sink += bytes[size / 2];
#line 120
    part();
}

SILENT void unseen(void)
{
#line 130
    work();
    sink++;
}

static jmp_buf back;

APART void leap(int n)
{
    if (n == 0)
        longjmp(back, 1);
#line 140
    leap(n - 1);
    sink++;
}

APART void *threaded(void *argument)
{
    for (int i = 0; i < 11; i++)
#line 150
        work();
    return argument;
}

APART void forked(void)
{
    for (int i = 0; i < 6; i++)
#line 160
        work();
}

APART void on_signal(int number)
{
    (void)number;
#line 170
    work();
}

APART int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

APART void awake(void)
{
    for (int i = 0; i < 5; i++)
#line 180
        work();
}

APART void asleep(void)
{
    dwell_resume(DWELL_PROCESS, DWELL_CURRENT);
#line 190
    awake();
}

APART void bottom(void)
{
    for (int i = 0; i < 60000; i++)
#line 200
        work();
}

/* Deeper than one record of open calls' sites can store. */
APART void dive(int n)
{
    if (n > 0)
#line 210
        dive(n - 1);
    else
#line 211
        bottom();
    sink++;
}

typedef void callback(void);

APART void by_pointer(callback *f)
{
#line 220
    f();
    sink++;
}

APART void one(void)
{
    sink++;
}

static void various(void)
{
    int numbers[] = { 8, 7, 6, 5, 4, 3, 2, 1 };
#line 300
    work();
    for (int i = 0; i < 20; i++)
#line 301
        work();
    for (int i = 0; i < 300; i++)
#line 302
        work();
    for (int i = 0; i < 5; i++)
#line 310
        TWICE();
    for (int i = 0; i < 7; i++)
#line 320
        part();
#line 321
    part();
#line 322
    whole();
#line 330
    down(11);
#line 340
    room(1000);
#line 341
    room(3000);
#line 350
    unseen();
    for (int i = 0; i < 4; i++)
        if (setjmp(back) == 0)
#line 360
            leap(3);
    signal(SIGUSR1, on_signal);
#line 370
    raise(SIGUSR1);
#line 380
    qsort(numbers, 8, sizeof *numbers, compare);
#line 390
    by_pointer(one);
#line 391
    by_pointer(work);
#line 392
    work();
#line 392
    work();
}

static void threads(void)
{
    pthread_t list[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&list[i], NULL, threaded, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(list[i], NULL);
}

static void fork_one(void)
{
    const pid_t child = fork();
    if (child == 0) {
#line 400
        forked();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "pause") == 0) {
        dwell_pause(DWELL_PROCESS, DWELL_CURRENT);
#line 410
        asleep();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "dive") == 0) {
#line 420
        dive(150);
        return 0;
    }
#line 430
    various();
    threads();
    fork_one();
    return 0;
}
