/*
 * counted THREADS ROUNDS MICROSECONDS [FORKS [place]]: threads call functions whose names begin with "hot_", leave some
 * by longjmp, and are interrupted by a signal every few microseconds, whose handler calls one, too. Each of the forked
 * children does the same with one thread. Prints the program's own counts of all calls. `place`: waits until the calls
 * of hot_leaf are counted in place; exits with status 3 if the machine can do that, and they are not after a minute.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "in_place.h"

#define PLAIN __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))

enum { HOT_LEAF, HOT_INLINED, HOT_JUMP, HOT_HANDLER, HOT_LATE, TIMED, FUNCTIONS, MAX_THREADS = 512 };

static const char *const names[] = { "hot_leaf", "hot_inlined", "hot_jump", "hot_handler", "hot_late", "timed" };
static unsigned long *total; /* shared with forked children */
static unsigned long rounds;
static __thread volatile unsigned long own[FUNCTIONS];
static __thread jmp_buf back;
static pthread_key_t key;

KEPT void hot_leaf(void)
{
    own[HOT_LEAF]++;
}

INLINED void hot_inlined(void)
{
    own[HOT_INLINED]++;
}

KEPT void timed(void)
{
    own[TIMED]++;
    hot_leaf();
    hot_inlined();
    hot_inlined();
}

KEPT void hot_jump(void)
{
    own[HOT_JUMP]++;
    longjmp(back, 1);
}

KEPT void hot_handler(void)
{
    __atomic_fetch_add(&total[HOT_HANDLER], 1, __ATOMIC_RELAXED);
}

/* Called when the thread's data is destroyed, after the runtime has heard of the thread's end. */
KEPT void hot_late(void)
{
    __atomic_fetch_add(&total[HOT_LATE], 1, __ATOMIC_RELAXED);
}

PLAIN static void on_signal(int number)
{
    (void)number;
    hot_handler();
}

PLAIN static void at_end(void *data)
{
    (void)data;
    hot_late();
}

PLAIN static void *run(void *data)
{
    (void)data;
    pthread_setspecific(key, &key);
    for (volatile unsigned long i = 0; i < rounds; i++) {
        timed();
        if (i % 16 == 0 && !setjmp(back))
            hot_jump();
    }
    for (int i = 0; i < FUNCTIONS; i++)
        __atomic_fetch_add(&total[i], own[i], __ATOMIC_RELAXED);
    return NULL;
}

PLAIN static void set_timer(long microseconds)
{
    const struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

PLAIN static void run_threads(int count)
{
    pthread_t threads[MAX_THREADS];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

PLAIN int main(int argc, char **argv)
{
    const int threads = atoi(argv[1]), forks = argc > 4 ? atoi(argv[4]) : 0;
    rounds = strtoul(argv[2], NULL, 10);
    total = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_key_create(&key, at_end);
    if (argc > 5)
        wait_for_place(hot_leaf, timed);
    signal(SIGALRM, on_signal);
    set_timer(atol(argv[3]));
    for (int i = 0; i < forks; i++) {
        timed(); /* the child's thread has counters of its own from here on */
        if (fork() == 0) {
            for (int j = 0; j < FUNCTIONS; j++)
                own[j] = 0;
            set_timer(atol(argv[3]));
            run(NULL);
            run_threads(1);
            set_timer(0);
            exit(0); /* at_end does not run on this thread */
        }
    }
    run_threads(threads);
    for (int i = 0; i < forks; i++)
        while (wait(NULL) < 0)
            ;
    set_timer(0);
    for (int i = 0; i < FUNCTIONS; i++)
        printf("calls %s %lu\n", names[i], total[i] + own[i]);
    return argc < 4;
}
