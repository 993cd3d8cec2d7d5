/*
 * What the programs about scarcity share: instrumented functions that count their own calls, in memory shared with
 * forked children, and the lines that report the counts to a test. The code around them is not instrumented.
 */
#ifndef DWELL_TESTS_WORK_H
#define DWELL_TESTS_WORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BARE __attribute__((no_instrument_function, noinline))

static struct {
    atomic_ulong step, work, dive, worker;
} * counts;

static __attribute__((noinline)) unsigned long step(unsigned long value)
{
    atomic_fetch_add_explicit(&counts->step, 1, memory_order_relaxed);
    return value * 2862933555777941757u + 3037000493u;
}

static __attribute__((noinline, unused)) void work(long count)
{
    atomic_fetch_add(&counts->work, 1);
    volatile unsigned long value = 1;
    for (long i = 0; i < count; i++)
        value = step(value);
}

/* A recursion, for which the shadow stack must grow. */
static __attribute__((noinline, unused)) long dive(long depth)
{
    volatile long here = depth;
    atomic_fetch_add_explicit(&counts->dive, 1, memory_order_relaxed);
    return depth > 1 ? dive(depth - 1) + here : here;
}

static __attribute__((unused)) void *worker(void *count)
{
    atomic_fetch_add(&counts->worker, 1);
    work((long)count);
    return NULL;
}

static BARE void begin(void)
{
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED)
        abort();
    setvbuf(stdout, NULL, _IONBF, 0); /* a buffer would take memory, and children would print it again */
}

static BARE __attribute__((unused)) void tell_counts(void)
{
    printf("calls step %lu\ncalls work %lu\ncalls dive %lu\ncalls worker %lu\ncalls main 1\n", counts->step,
           counts->work, counts->dive, counts->worker);
}

static BARE __attribute__((unused)) void need(int well, const char *what)
{
    if (well)
        return;
    perror(what);
    _exit(9);
}

static BARE __attribute__((unused)) void run_thread(long count)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, worker, (void *)count);
    need(error == 0, "pthread_create");
    pthread_join(thread, NULL);
}

/* Works in a forked child, which ends by _exit, so that its open calls stay open. */
static BARE __attribute__((unused)) void run_child(long count)
{
    pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
        work(count);
        _exit(0);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child && status == 0, "child");
}

#endif
