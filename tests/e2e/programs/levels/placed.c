/*
 * placed WAY: makes threads and processes in unusual ways while the calls of hot_leaf are counted in place. Prints the
 * program's own count of these calls. Ways:
 *   child      a child that makes no other calls, and ends by _exit
 *   daemon     a child that libc forks itself
 *   exec       a child that makes no other calls, and executes another program
 *   c11        a thread of thrd_create
 *   handler    a thread whose first call is in a signal handler, before its own code
 *   vfork      a child that shares the memory
 *   pause      calls in a pause, which do not count
 *   killed     a child that makes no other calls, and is killed
 *   bare_fork  a child of the bare system call
 *   bare_clone a thread that libc does not know: calls may be lost
 */
#include <dwell/dwell.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>

#include "in_place.h"

#define PLAIN __attribute__((no_instrument_function))

enum { CALLS = 100000, STACK = 1 << 16 };

static unsigned long *total; /* shared with children */

__attribute__((noinline)) void hot_leaf(void)
{
    __atomic_fetch_add(total, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void timed(void)
{
    hot_leaf();
}

PLAIN static void call(void)
{
    for (int i = 0; i < CALLS; i++)
        hot_leaf();
}

PLAIN static void wait_for(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0)
        ;
}

PLAIN static void child(void)
{
    const pid_t made = fork();
    if (made == 0) {
        call();
        _exit(0);
    }
    wait_for(made);
}

PLAIN static void as_daemon(void)
{
    const pid_t made = fork();
    if (made == 0) {
        if (daemon(1, 1) == 0) /* this child ends, and its child goes on */
            call();
        _exit(0);
    }
    wait_for(made);
    while (*(volatile unsigned long *)total < CALLS)
        usleep(1000);
    usleep(100000);
}

PLAIN static void exec_other(void)
{
    const pid_t made = fork();
    if (made == 0) {
        call();
        execl("/bin/true", "true", (char *)NULL);
    }
    wait_for(made);
}

PLAIN static int run_c11(void *data)
{
    (void)data;
    call();
    return 7;
}

PLAIN static void c11(void)
{
    thrd_t thread;
    int result = 0;
    thrd_create(&thread, run_c11, NULL);
    call();
    thrd_join(thread, &result);
    if (result != 7)
        exit(4);
}

PLAIN static void on_signal(int number)
{
    (void)number;
    call();
}

PLAIN static void *run_nothing(void *data)
{
    return data;
}

PLAIN static void handler(void)
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run_nothing, NULL);
        pthread_kill(thread, SIGUSR1); /* it may not have begun yet */
        pthread_join(thread, NULL);
    }
}

PLAIN static void with_vfork(void)
{
    const pid_t made = vfork();
    if (made == 0) {
        call();
        _exit(0);
    }
    wait_for(made);
}

PLAIN static void in_pause(void)
{
    const unsigned long before = *total;
    dwell_pause(DWELL_THREAD, DWELL_CURRENT);
    call();
    dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    *total = before;
    call();
}

PLAIN static void killed(void)
{
    const unsigned long before = *total;
    const pid_t made = fork();
    if (made == 0) {
        for (;;)
            hot_leaf();
    }
    while (*(volatile unsigned long *)total < before + CALLS)
        usleep(1000);
    kill(made, SIGKILL);
    wait_for(made);
}

PLAIN static void bare_fork(void)
{
    const pid_t made = (pid_t)syscall(SYS_fork);
    if (made == 0) {
        call();
        timed();
        call();
        syscall(SYS_exit_group, 0);
    }
    wait_for(made);
}

PLAIN static int run_bare(void *data)
{
    (void)data;
    call();
    return 0;
}

PLAIN static void bare_clone(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const pid_t made = clone(run_bare, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    call();
    wait_for(made);
}

PLAIN int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        { "child", child },         { "daemon", as_daemon },      { "exec", exec_other }, { "c11", c11 },
        { "handler", handler },     { "vfork", with_vfork },      { "pause", in_pause },  { "killed", killed },
        { "bare_fork", bare_fork }, { "bare_clone", bare_clone },
    };
    total = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wait_for_place(hot_leaf, timed);
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    printf("calls hot_leaf %lu\n", *total);
    return 0;
}
