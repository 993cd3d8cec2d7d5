/* causes WHAT: waits whose objects, numbers and causes are known. Each wait begins well before what ends it. */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "resting.h"

enum { ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int turn;

/* Waits without the system until it is the caller's turn. */
UNSEEN static void await(int number)
{
    while (turn < number)
        __asm__ volatile("" ::: "memory");
}

static bool impatient;      /* the other thread gives up once before it gets the lock */
static volatile int rounds; /* in which it has given up */

static void hold_lock(int round)
{
    turn = 2 * round + 1;
    while (impatient && rounds <= round)
        pass(1);
    rest();
}

static void *lock_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        hold_lock(i);
        pthread_mutex_unlock(&mutex);
        await(2 * i + 2);
    }
    return unused;
}

static void want_lock(int round)
{
    await(2 * round + 1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    turn = 2 * round + 2;
}

static void *write_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_wrlock(&rwlock);
        hold_lock(i);
        pthread_rwlock_unlock(&rwlock);
        await(2 * i + 2);
    }
    return unused;
}

static void want_to_read(int round)
{
    await(2 * round + 1);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    turn = 2 * round + 2;
}

static void give_signal(void)
{
    pthread_mutex_lock(&mutex);
    turn++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static void *signal_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        give_signal();
    }
    return unused;
}

static void await_signal(int round)
{
    pthread_mutex_lock(&mutex);
    while (turn <= round)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void *post_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        sem_post(&ready);
    }
    return unused;
}

static void await_post(int round)
{
    (void)round;
    sem_wait(&ready);
}

static void *arrive_late(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static void arrive_early(int round)
{
    (void)round;
    pthread_barrier_wait(&barrier);
}

static void *end_late(void *unused)
{
    rest();
    return unused;
}

/* ---- a raw futex ---- */

static int word;

static void wake(int round)
{
    __atomic_store_n(&word, round + 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *wake_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        wake(i);
    }
    return unused;
}

static void await_word(int round)
{
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) <= round)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
}

/* ---- kinds of mutexes ---- */

/* The mutex becomes one of that type, protocol and robustness. */
UNSEEN static void make_mutex(pthread_mutex_t *made, int type, int protocol, int robust)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, type);
    pthread_mutexattr_setprotocol(&kind, protocol);
    pthread_mutexattr_setrobust(&kind, robust);
    pthread_mutexattr_setpshared(&kind, made == &mutex ? PTHREAD_PROCESS_PRIVATE : PTHREAD_PROCESS_SHARED);
    if (pthread_mutex_init(made, &kind) != 0)
        abort();
}

/* A recursive mutex is released by the last unlock only. */
static void *lock_twice_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        hold_lock(i);
        pthread_mutex_unlock(&mutex);
        await(2 * i + 2);
    }
    return unused;
}

static void want_lock_in_time(int round)
{
    struct timespec until;
    await(2 * round + 1);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 100;
    pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&mutex);
    turn = 2 * round + 2;
}

enum { IN_VAIN_MS = 50 }; /* a thread may lose the processor for a while before it waits until then */

/* The lock is not released in time, so nobody ends these waits. */
static void give_up(int round)
{
    struct timespec until;
    await(2 * round + 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += IN_VAIN_MS * MS;
    until.tv_sec += until.tv_nsec / (1000 * MS);
    until.tv_nsec %= 1000 * MS;
    pthread_mutex_timedlock(&mutex, &until);
    rounds = round + 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    turn = 2 * round + 2;
}

/* No signal comes: the wait ends by its time. */
static void await_in_vain(int round)
{
    struct timespec until;
    (void)round;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += IN_VAIN_MS * MS;
    until.tv_sec += until.tv_nsec / (1000 * MS);
    until.tv_nsec %= 1000 * MS;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
}

struct shared {
    pthread_mutex_t mutex;
    volatile int held;
};

static void want_shared_lock(struct shared *s)
{
    while (!s->held)
        __asm__ volatile("" ::: "memory");
    pthread_mutex_lock(&s->mutex);
    pthread_mutex_unlock(&s->mutex);
}

static void hold_shared_lock(struct shared *s)
{
    pthread_mutex_lock(&s->mutex);
    s->held = 1;
    rest();
    pthread_mutex_unlock(&s->mutex);
}

/* The child holds the lock that the parent wants. */
static void share_lock(void)
{
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    make_mutex(&s->mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    const pid_t pid = fork();
    if (pid == 0) {
        hold_shared_lock(s);
        _exit(0);
    }
    want_shared_lock(s);
    waitpid(pid, NULL, 0);
}

/* Runs `other` on a thread of its own, and `own` for each round. */
static void run_both(void *(*other)(void *), void (*own)(int))
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_setname_np(thread, "other");
    for (int i = 0; own && i < ROUNDS; i++)
        own(i);
    pthread_join(thread, NULL);
}

static void child_work(void)
{
    rest();
}

static void await_child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        child_work();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void sleep_often(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec time = { 0, 10 * MS };
        nanosleep(&time, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    sem_init(&ready, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    if (strcmp(what, "recursive") == 0 || strcmp(what, "twice") == 0)
        make_mutex(&mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    else if (strcmp(what, "checking") == 0)
        make_mutex(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    else if (strcmp(what, "adaptive") == 0)
        make_mutex(&mutex, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    else if (strcmp(what, "robust") == 0)
        make_mutex(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    else if (strcmp(what, "inheriting") == 0)
        make_mutex(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    if (strcmp(what, "mutex") == 0 || strcmp(what, "recursive") == 0 || strcmp(what, "checking") == 0 ||
        strcmp(what, "adaptive") == 0 || strcmp(what, "robust") == 0 || strcmp(what, "inheriting") == 0)
        run_both(lock_often, want_lock);
    else if (strcmp(what, "twice") == 0)
        run_both(lock_twice_often, want_lock);
    else if (strcmp(what, "clock") == 0)
        run_both(lock_often, want_lock_in_time);
    else if ((impatient = strcmp(what, "timed") == 0))
        run_both(lock_often, give_up);
    else if (strcmp(what, "vain") == 0)
        run_both(end_late, await_in_vain);
    else if (strcmp(what, "shared") == 0)
        share_lock();
    else if (strcmp(what, "futex") == 0)
        run_both(wake_often, await_word);
    else if (strcmp(what, "rwlock") == 0)
        run_both(write_often, want_to_read);
    else if (strcmp(what, "condition") == 0)
        run_both(signal_often, await_signal);
    else if (strcmp(what, "semaphore") == 0)
        run_both(post_often, await_post);
    else if (strcmp(what, "barrier") == 0)
        run_both(arrive_late, arrive_early);
    else if (strcmp(what, "join") == 0)
        run_both(end_late, NULL);
    else if (strcmp(what, "child") == 0)
        await_child();
    else if (strcmp(what, "sleep") == 0)
        sleep_often();
    else
        return 1;
    return 0;
}
