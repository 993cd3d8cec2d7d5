/*
 * handlers SEED TURNS: the handlers of a timer return, leave by siglongjmp, fork, or fork and execute a program, at
 * random. The handler of a fault throws. Two threads work meanwhile.
 *
 * The program prints how often its functions ran, by caller, as scripts/soak reads it. Children count, too. A call may
 * have begun without its body where a handler left it: `victims` is the number of these jumps.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "thread_timer.h"

#define KEPT __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))

enum { THREADS = 2 };

/* In memory that forked children share. */
struct counts {
    long works, leaves, handlers, handler_leaves, children, guards, faults, throwers, jumps;
};

static struct counts *counts;
static volatile int *volatile nowhere;
static long turns;
static __thread sigjmp_buf place;
static __thread unsigned seed;

#define COUNT(member) __atomic_fetch_add(&counts->member, 1, __ATOMIC_RELAXED)
#define AFTER __asm__ volatile("" ::: "memory")

/* With C linkage, names have no parameters that scripts/soak would have to remove. */
extern "C" {

KEPT static void leaf()
{
    COUNT(leaves);
}

KEPT static void work()
{
    COUNT(works);
    leaf();
    leaf();
    AFTER;
}

KEPT static void handler_leaf()
{
    COUNT(handler_leaves);
}

KEPT static void child()
{
    COUNT(children);
    handler_leaf();
    AFTER;
}

QUIET static unsigned handlers_random()
{
    seed = seed * 1103515245u + 12345u;
    return seed >> 16;
}

QUIET static void fork_one(bool execute)
{
    const pid_t pid = fork();
    if (pid == 0) {
        child();
        if (execute)
            execl("/bin/true", "true", nullptr);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, nullptr, 0) < 0)
        continue;
}

KEPT static void handler(int number)
{
    COUNT(handlers);
    handler_leaf();
    next_signal(number);
    const unsigned what = handlers_random() % 64;
    if (what < 24) {
        COUNT(jumps);
        siglongjmp(place, 1);
    }
    if (what >= 60)
        fork_one(what >= 62);
    AFTER;
}

KEPT static void thrower(int)
{
    COUNT(throwers);
    throw 1;
}

KEPT static void faulter()
{
    COUNT(faults);
    *nowhere = 1;
    AFTER;
}

KEPT static void guard()
{
    COUNT(guards);
    try {
        faulter();
    } catch (int) {
        AFTER;
    }
}

QUIET static void hold(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(how, &set, nullptr);
}

/* The timer's signal is unblocked only around `work`, so that a jump leaves only that. */
KEPT static void loop()
{
    for (volatile long i = 0; i < turns; i = i + 1) {
        if (sigsetjmp(place, 1) == 0) {
            hold(SIG_UNBLOCK);
            for (int j = 0; j < 50; j++)
                work();
        }
        hold(SIG_BLOCK);
        guard();
    }
}

} /* extern "C" */

QUIET static void *run(void *number)
{
    seed = static_cast<unsigned>(reinterpret_cast<size_t>(number)) * 7919;
    const timer_t timer = start_timer(SIGUSR1, 150000);
    loop();
    timer_delete(timer);
    return nullptr;
}

QUIET int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    const long first = argc > 1 ? atol(argv[1]) : 1;
    turns = argc > 2 ? atol(argv[2]) : 100;
    counts = static_cast<struct counts *>(
        mmap(nullptr, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_handler = thrower;
    action.sa_flags = SA_NODEFER; /* a handler that throws does not restore the mask */
    sigaction(SIGSEGV, &action, nullptr);
    hold(SIG_BLOCK);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], nullptr, run, reinterpret_cast<void *>(first * THREADS + i));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], nullptr);
    printf("edge - loop %d\nedge loop work %ld\nedge loop guard %ld\nedge work leaf %ld\nedge guard faulter %ld\n"
           "edge faulter thrower %ld\nedge * handler %ld\nedge handler handler_leaf %ld\nedge handler child %ld\n"
           "edge child handler_leaf %ld\nvictims %ld\n",
           THREADS, counts->works, counts->guards, counts->leaves, counts->faults, counts->throwers, counts->handlers,
           counts->handler_leaves - counts->children, counts->children, counts->children, counts->jumps);
    return 0;
}
