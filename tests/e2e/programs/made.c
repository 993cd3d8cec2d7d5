/* made WHAT: waits for objects that known functions have made. Each wait begins before what ends it. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "resting.h"

static struct {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    mtx_t plain;
} * objects;
static volatile int turn;
static int in, out;

UNSEEN static void must(int ok)
{
    if (!ok)
        abort();
}

/* Waits without the system. */
UNSEEN static void await_turn(void)
{
    while (!turn)
        __asm__ volatile("" ::: "memory");
    turn = 0;
}

UNSEEN static void run_both(void *(*other)(void *), void (*own)(void))
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, other, NULL) == 0);
    own();
    must(pthread_join(thread, NULL) == 0);
}

/* ---- objects with an address ---- */

static void *hold_mutex(void *unused)
{
    pthread_mutex_lock(&objects->mutex);
    turn = 1;
    rest();
    pthread_mutex_unlock(&objects->mutex);
    return unused;
}

static void want_mutex(void)
{
    await_turn();
    pthread_mutex_lock(&objects->mutex);
    pthread_mutex_unlock(&objects->mutex);
}

static void *hold_plain(void *unused)
{
    mtx_lock(&objects->plain);
    turn = 1;
    rest();
    mtx_unlock(&objects->plain);
    return unused;
}

static void want_plain(void)
{
    await_turn();
    mtx_lock(&objects->plain);
    mtx_unlock(&objects->plain);
}

static void *hold_rwlock(void *unused)
{
    pthread_rwlock_wrlock(&objects->rwlock);
    turn = 1;
    rest();
    pthread_rwlock_unlock(&objects->rwlock);
    return unused;
}

static void want_rwlock(void)
{
    await_turn();
    pthread_rwlock_rdlock(&objects->rwlock);
    pthread_rwlock_unlock(&objects->rwlock);
}

static void *give_signal(void *unused)
{
    rest();
    pthread_mutex_lock(&objects->mutex);
    turn = 1;
    pthread_cond_signal(&objects->condition);
    pthread_mutex_unlock(&objects->mutex);
    return unused;
}

static void await_signal(void)
{
    pthread_mutex_lock(&objects->mutex);
    while (!turn)
        pthread_cond_wait(&objects->condition, &objects->mutex);
    pthread_mutex_unlock(&objects->mutex);
}

static void *post(void *unused)
{
    rest();
    sem_post(&objects->semaphore);
    return unused;
}

static void await_post(void)
{
    must(sem_wait(&objects->semaphore) == 0);
}

static void *arrive(void *unused)
{
    rest();
    pthread_barrier_wait(&objects->barrier);
    return unused;
}

static void await_others(void)
{
    pthread_barrier_wait(&objects->barrier);
}

static void make_mutex(void)
{
    must(pthread_mutex_init(&objects->mutex, NULL) == 0);
}

static void make_again(void)
{
    must(pthread_mutex_init(&objects->mutex, NULL) == 0);
}

/* Without a call. */
static void make_silently(void)
{
    objects->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void make_all(void)
{
    make_mutex();
    must(pthread_rwlock_init(&objects->rwlock, NULL) == 0 && pthread_cond_init(&objects->condition, NULL) == 0);
    must(pthread_barrier_init(&objects->barrier, NULL, 2) == 0 && sem_init(&objects->semaphore, 0, 0) == 0);
    must(mtx_init(&objects->plain, mtx_plain) == thrd_success);
}

static void use_in_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        run_both(hold_mutex, want_mutex);
        exit(0);
    }
    must(waitpid(child, NULL, 0) == child);
}

/* The calls of the library are made where the function that makes the object has ended. */
static void use_twice(void (*again)(void))
{
    run_both(hold_mutex, want_mutex);
    must(pthread_mutex_destroy(&objects->mutex) == 0);
    again();
    run_both(hold_mutex, want_mutex);
}

/* More objects than the runtime knows. */
static void make_many(void)
{
    enum { MANY = 1 << 16 };
    static pthread_mutex_t others[MANY];
    for (int i = 0; i < MANY; i++)
        must(pthread_mutex_init(&others[i], NULL) == 0);
}

/* ---- descriptors ---- */

static void *give(void *unused)
{
    rest();
    must(write(out, "12345678", 8) == 8);
    return unused;
}

static void take(void)
{
    char text[8];
    must(read(in, text, sizeof text) == sizeof text);
}

static void use_ends(const int ends[2])
{
    in = ends[0];
    out = ends[1];
    run_both(give, take);
}

static void make_pipe(int ends[2])
{
    must(pipe(ends) == 0);
}

static void make_other_pipe(int ends[2])
{
    must(pipe2(ends, 0) == 0);
}

static void make_pair(int ends[2])
{
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
}

static void make_eventfd(int ends[2])
{
    ends[0] = ends[1] = eventfd(0, 0);
    must(ends[0] >= 0);
}

static void make_timer(int ends[2])
{
    ends[0] = in = timerfd_create(CLOCK_MONOTONIC, 0);
    must(ends[0] >= 0);
}

/* Only when the other thread waits: on a busy machine, the timer might be up before. */
static void *set_timer(void *unused)
{
    const struct itimerspec soon = { .it_value.tv_nsec = MS };
    rest();
    must(timerfd_settime(in, 0, &soon, NULL) == 0);
    return unused;
}

static void duplicate(int ends[2])
{
    ends[0] = dup(ends[0]);
    must(dup2(ends[1], 100) == 100);
    ends[1] = 100;
}

/* The same numbers mean other pipes. */
static void use_numbers_again(void)
{
    int ends[2], again[2];
    make_pipe(ends);
    use_ends(ends);
    must(close(ends[0]) == 0 && close(ends[1]) == 0);
    make_other_pipe(again);
    must(again[0] == ends[0] && again[1] == ends[1]);
    use_ends(again);
}

static void take_in_child(int ends[2])
{
    const pid_t child = fork();
    if (child == 0) {
        use_ends(ends);
        exit(0);
    }
    must(waitpid(child, NULL, 0) == child);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int ends[2];
    objects = calloc(1, sizeof *objects);
    make_all();
    if (strcmp(what, "mutex") == 0)
        run_both(hold_mutex, want_mutex);
    else if (strcmp(what, "plain") == 0)
        run_both(hold_plain, want_plain);
    else if (strcmp(what, "rwlock") == 0)
        run_both(hold_rwlock, want_rwlock);
    else if (strcmp(what, "condition") == 0)
        run_both(give_signal, await_signal);
    else if (strcmp(what, "semaphore") == 0)
        run_both(post, await_post);
    else if (strcmp(what, "barrier") == 0)
        run_both(arrive, await_others);
    else if (strcmp(what, "again") == 0)
        use_twice(make_again);
    else if (strcmp(what, "silent") == 0)
        use_twice(make_silently);
    else if (strcmp(what, "fork") == 0)
        use_in_child();
    else if (strcmp(what, "many") == 0)
        make_many(), run_both(hold_mutex, want_mutex);
    else if (strcmp(what, "pipe") == 0)
        make_pipe(ends), use_ends(ends);
    else if (strcmp(what, "pair") == 0)
        make_pair(ends), use_ends(ends);
    else if (strcmp(what, "eventfd") == 0)
        make_eventfd(ends), use_ends(ends);
    else if (strcmp(what, "timer") == 0)
        make_timer(ends), run_both(set_timer, take);
    else if (strcmp(what, "duplicate") == 0)
        make_pipe(ends), duplicate(ends), use_ends(ends);
    else if (strcmp(what, "numbers") == 0)
        use_numbers_again();
    else if (strcmp(what, "child") == 0)
        make_pipe(ends), take_in_child(ends);
    else
        return 1;
    return 0;
}
