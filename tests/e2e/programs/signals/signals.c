/*
 * signals CASE: handlers that run instrumented code, while instrumented code runs.
 *   nested     two timers, whose handlers interrupt each other, in four threads
 *   alternate  the same on alternate stacks
 *   jump       a handler on an alternate stack that leaves it by siglongjmp
 *   above      the same, with an alternate stack above the frames that the handler interrupts
 *   never      a handler that does not return: it does the rest of the work, and ends the program
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

enum { THREADS = 4, ALTERNATE = 64 << 10 };

struct counts {
    long works, leaves, handlers, handler_leaves, catches;
};

static __thread struct counts mine; /* a handler adds to its thread's by one instruction */
static struct counts all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static int alternate;

#define COUNT(member) __atomic_fetch_add(&mine.member, 1, __ATOMIC_RELAXED)

KEPT static void leaf(void)
{
    COUNT(leaves);
}

KEPT static void work(int depth)
{
    COUNT(works);
    if (depth > 0)
        work(depth - 1);
    leaf();
}

KEPT static void handler_leaf(int depth)
{
    COUNT(handler_leaves);
    if (depth > 0)
        handler_leaf(depth - 1);
    __asm__ volatile("");
}

static void handler(int number)
{
    COUNT(handlers);
    handler_leaf(3);
    next_signal(number);
}

QUIET static void hold(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

QUIET static void use_stack(void *memory)
{
    stack_t stack = { .ss_sp = memory, .ss_size = ALTERNATE };
    sigaltstack(&stack, NULL);
}

QUIET static void set_handler(int number, void (*function)(int))
{
    struct sigaction action = { .sa_handler = function, .sa_flags = alternate ? SA_ONSTACK : 0 };
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

QUIET static void *run(void *unused)
{
    if (alternate)
        use_stack(malloc(ALTERNATE));
    timer_t one = start_timer(SIGUSR1, 50000), two = start_timer(SIGUSR2, 70000);
    for (long i = 0; i < rounds; i++)
        work((int)(i % 4));
    timer_delete(one);
    timer_delete(two);
    hold(SIGUSR1);
    hold(SIGUSR2);
    pthread_mutex_lock(&lock);
    all.works += mine.works;
    all.leaves += mine.leaves;
    all.handlers += mine.handlers;
    all.handler_leaves += mine.handler_leaves;
    pthread_mutex_unlock(&lock);
    return unused;
}

QUIET static void say(void)
{
    printf("calls work %ld\ncalls leaf %ld\ncalls handler %ld\ncalls handler_leaf %ld\n", all.works, all.leaves,
           all.handlers, all.handler_leaves);
}

QUIET static int nested(void)
{
    pthread_t threads[THREADS];
    set_handler(SIGUSR1, handler);
    set_handler(SIGUSR2, handler);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    say();
    return all.handlers > 0 ? 0 : 1;
}

/* ---- handlers that are left ---- */

static sigjmp_buf place;

static void jumper(int number)
{
    (void)number;
    COUNT(handlers);
    handler_leaf(1);
    siglongjmp(place, 1);
}

KEPT static void raiser(int depth)
{
    COUNT(works);
    if (depth > 0)
        raiser(depth - 1);
    else
        raise(SIGUSR1);
    __asm__ volatile("");
}

KEPT static void catcher(int depth)
{
    COUNT(catches);
    if (sigsetjmp(place, 1) == 0)
        raiser(depth);
    leaf();
    __asm__ volatile("");
}

QUIET static int jump(void *handlers_stack)
{
    alternate = 1;
    use_stack(handlers_stack);
    set_handler(SIGUSR1, jumper);
    for (int i = 0; i < 500; i++)
        catcher(i % 3);
    printf("calls catcher %ld\ncalls raiser %ld\ncalls jumper %ld\ncalls handler_leaf %ld\ncalls leaf %ld\n",
           mine.catches, mine.works, mine.handlers, mine.handler_leaves, mine.leaves);
    return 0;
}

static __attribute__((noreturn)) void finisher(int number)
{
    (void)number;
    COUNT(handlers);
    for (int i = 0; i < 1000; i++)
        work(1);
    printf("calls work %ld\ncalls leaf %ld\ncalls finisher 1\ncalls raiser 1\n", mine.works - 1, mine.leaves);
    fflush(stdout);
    _exit(0);
}

QUIET static int never(void)
{
    set_handler(SIGUSR1, finisher);
    raiser(0);
    return 1;
}

QUIET int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    rounds = argc > 2 ? atol(argv[2]) : 1000;
    alternate = strcmp(how, "alternate") == 0;
    if (strcmp(how, "nested") == 0 || alternate)
        return nested();
    if (strcmp(how, "jump") == 0)
        return jump(malloc(ALTERNATE));
    if (strcmp(how, "above") == 0) {
        char handlers_stack[ALTERNATE];
        return jump(handlers_stack);
    }
    return strcmp(how, "never") == 0 ? never() : 2;
}
