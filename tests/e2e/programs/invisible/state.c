/* What a program can find out about itself: errno around every call, signals, its memory requests, its environment, and
 * its threads as libc counts them. Prints it all. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

enum { STEPS = 200000, THREADS = 8, DEPTH = 20000 };

extern char **environ;
extern char __libc_single_threaded;

/* ---- malloc, counted ---- */

static long requests;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *at);

QUIET void *malloc(size_t size)
{
    __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
    return __libc_malloc(size);
}

QUIET void *calloc(size_t count, size_t size)
{
    __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
    return __libc_calloc(count, size);
}

QUIET void *realloc(void *old, size_t size)
{
    __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
    return __libc_realloc(old, size);
}

QUIET void free(void *at)
{
    if (at)
        __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
    __libc_free(at);
}

/* ---- errno and signals, around every call ---- */

static long wrong_errno, wrong_mask;

__attribute__((noinline)) static void step(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) static void dive(int depth)
{
    if (depth > 0)
        dive(depth - 1);
    __asm__ volatile("");
}

QUIET static void check_errno(int value)
{
    if (errno != value)
        __atomic_fetch_add(&wrong_errno, 1, __ATOMIC_RELAXED);
}

QUIET static void check_mask(const sigset_t *wanted)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i < 65; i++)
        if (sigismember(&mask, i) != sigismember(wanted, i))
            __atomic_fetch_add(&wrong_mask, 1, __ATOMIC_RELAXED);
}

QUIET static void *run(void *argument)
{
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigaddset(&some, SIGRTMIN + 3);
    pthread_sigmask(SIG_SETMASK, &some, NULL);
    errno = 4321;
    step(); /* a thread's first */
    check_errno(4321);
    check_mask(&some);
    for (int i = 0; i < STEPS; i++) {
        errno = i;
        step();
        check_errno(i);
        if (i % 1024 == 0)
            check_mask(&some);
    }
    errno = 17;
    dive(DEPTH);
    check_errno(17);
    check_mask(&some);
    return argument;
}

QUIET static void print_dispositions(void)
{
    sigset_t pending;
    sigpending(&pending);
    for (int i = 1; i < 65; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0)
            printf("%d%s%d ", action.sa_handler != SIG_DFL, action.sa_handler == SIG_IGN ? "i" : "",
                   sigismember(&pending, i));
    }
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("alternate stack %d\n", stack.ss_flags);
}

/* ---- the environment ---- */

QUIET static void print_environment(const char *when)
{
    unsigned long sum = 5381, count = 0;
    for (char **variable = environ; *variable; variable++, count++)
        for (const char *at = *variable; *at; at++)
            sum = sum * 33 + (unsigned char)*at;
    const char *preload = getenv("LD_PRELOAD"), *output = getenv("DWELL_OUTPUT");
    printf("%s: %lu variables, %lx, LD_PRELOAD %s, %s\n", when, count, sum, preload ? preload : "(none)",
           output ? output : "");
    fflush(stdout);
}

QUIET int main(int argc, char **argv, char **envp)
{
    pthread_t threads[THREADS];
    (void)argv;
    if (argc > 1) {
        print_environment("executed");
        return 0;
    }
    printf("single-threaded %d\n", __libc_single_threaded);
    long before = requests;
    errno = 99;
    step(); /* the first */
    check_errno(99);
    for (int i = 0; i < STEPS; i++)
        step();
    dive(DEPTH);
    printf("requests for memory %ld, single-threaded %d\n", requests - before, __libc_single_threaded);
    before = requests;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("with threads %ld\n", requests - before);
    printf("errno wrong %ld times, mask %ld times\n", wrong_errno, wrong_mask);
    print_dispositions();
    printf("arguments' environment %d\n", envp == environ);
    print_environment("here");
    if (system("env -u _ | sort; echo $LD_PRELOAD") != 0)
        return 1;
    print_environment("after system");
    pid_t child = fork();
    if (child == 0) {
        step();
        print_environment("forked");
        execl("/proc/self/exe", "state", "again", (char *)NULL);
    }
    waitpid(child, NULL, 0);
    return 0;
}
