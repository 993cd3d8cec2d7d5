/*
 * leaving HANDLER JUMPS [edges]: in two threads, handlers leave instrumented code by siglongjmp.
 *   loud      the handler is instrumented, and calls instrumented code
 *   silent    it is not, so that no frame shows that it ran
 *   nested    two handlers, which interrupt each other
 *
 * The program prints how often the bodies of its functions ran. A call may have begun without its body. With `edges`,
 * it prints these counts as scripts/soak reads them.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "thread_timer.h"

#define KEPT __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))

enum { THREADS = 2 };

struct counts {
    long works, leaves, hidden, leavers, handler_leaves, jumps;
};

static __thread struct counts mine; /* a handler adds to its thread's by one instruction */
static __thread sigjmp_buf place;
static struct counts all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long jumps;
static int nested;

#define COUNT(member) __atomic_fetch_add(&mine.member, 1, __ATOMIC_RELAXED)

KEPT static void leaf(void)
{
    COUNT(leaves);
}

KEPT static void hidden(void)
{
    COUNT(hidden);
}

KEPT static void work(void)
{
    COUNT(works);
    leaf();
    hidden();
    leaf();
    __asm__ volatile("");
}

KEPT static void handler_leaf(void)
{
    COUNT(handler_leaves);
}

static void leaver(int number)
{
    COUNT(leavers);
    handler_leaf();
    COUNT(jumps);
    next_signal(number);
    siglongjmp(place, 1);
}

QUIET static void silent_leaver(int number)
{
    COUNT(jumps);
    next_signal(number);
    siglongjmp(place, 1);
}

QUIET static void hold(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(how, &set, NULL);
}

/* Signals are unblocked only in here, so that `loop` ends only once. */
KEPT static void loop(void)
{
    sigsetjmp(place, 1);
    hold(SIG_UNBLOCK);
    while (__atomic_load_n(&mine.jumps, __ATOMIC_RELAXED) < jumps)
        work();
    hold(SIG_BLOCK);
}

QUIET static void *run(void *unused)
{
    timer_t one = start_timer(SIGUSR1, 150000), two = start_timer(SIGUSR2, nested ? 170000 : 0);
    loop();
    timer_delete(one);
    timer_delete(two);
    pthread_mutex_lock(&lock);
    all.works += mine.works;
    all.leaves += mine.leaves;
    all.hidden += mine.hidden;
    all.leavers += mine.leavers;
    all.handler_leaves += mine.handler_leaves;
    all.jumps += mine.jumps;
    pthread_mutex_unlock(&lock);
    return unused;
}

QUIET int main(int argc, char **argv)
{
    const int loud = argc < 2 || strcmp(argv[1], "silent") != 0;
    struct sigaction action = { .sa_handler = loud ? leaver : silent_leaver };
    pthread_t threads[THREADS];
    nested = argc > 1 && strcmp(argv[1], "nested") == 0;
    jumps = argc > 2 ? atol(argv[2]) : 1000;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    hold(SIG_BLOCK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (argc > 3) {
        printf("edge - loop %d\nedge loop work %ld\nedge work leaf %ld\nedge work hidden %ld\nedge * leaver %ld\n"
               "edge leaver handler_leaf %ld\nvictims %ld\n",
               THREADS, all.works, all.leaves, all.hidden, all.leavers, all.handler_leaves, all.jumps);
        return 0;
    }
    printf("work %ld leaf %ld hidden %ld leaver %ld handler_leaf %ld jumps %ld\n", all.works, all.leaves, all.hidden,
           all.leavers, all.handler_leaves, all.jumps);
    return 0;
}
