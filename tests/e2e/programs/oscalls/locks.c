/* Waiting for a taken lock is a row; taking a free one is not. So another thread waits in each until it is seen to
 * wait. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#include "every.h"

static const struct timespec past = { 1, 0 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t standard, standard_timed;
static int step;

/* Both threads count their steps, one at a time, without a call. */
static NOT_INSTRUMENTED void reach(int number)
{
    __atomic_store_n(&step, number, __ATOMIC_RELEASE);
}

static NOT_INSTRUMENTED void await(int number)
{
    while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != number)
        __asm__ volatile("" ::: "memory");
}

#define AWAIT(condition)                                                                                               \
    while (!(condition))                                                                                               \
    __asm__ volatile("" ::: "memory")

static void *other_thread(void *unused)
{
    (void)unused;
    await(1); /* all is locked */
    CALL(pthread_mutex_timedlock, &timed, &past);
    CALL(pthread_mutex_clocklock, &timed, CLOCK_MONOTONIC, &past);
    CALL(pthread_rwlock_timedrdlock, &lock, &past);
    CALL(pthread_rwlock_clockrdlock, &lock, CLOCK_MONOTONIC, &past);
    CALL(pthread_rwlock_timedwrlock, &lock, &past);
    CALL(pthread_rwlock_clockwrlock, &lock, CLOCK_MONOTONIC, &past);
    CALL(sem_timedwait, &semaphore, &past);
    CALL(sem_clockwait, &semaphore, CLOCK_MONOTONIC, &past);
    CALL(mtx_timedlock, &standard_timed, &past);
    reach(2);
    CALL(pthread_mutex_lock, &mutex);
    CALL(pthread_mutex_unlock, &mutex);
    CALL(mtx_lock, &standard);
    CALL(mtx_unlock, &standard);
    CALL(pthread_rwlock_rdlock, &lock);
    told("unlock", pthread_rwlock_unlock(&lock));
    CALL(sem_wait, &semaphore);
    reach(3);
    await(4); /* locked for reading */
    CALL(pthread_rwlock_wrlock, &lock);
    told("unlock", pthread_rwlock_unlock(&lock));
    return (void *)7;
}

static void contended(void)
{
    pthread_t thread;
    void *result = NULL;
    told("free", pthread_mutex_lock(&mutex));
    told("free", pthread_rwlock_wrlock(&lock));
    told("free", mtx_lock(&standard));
    told("free", pthread_mutex_lock(&timed));
    told("free", mtx_lock(&standard_timed));
    CALL(pthread_create, &thread, NULL, other_thread, NULL);
    reach(1);
    await(2);
    AWAIT(*(volatile int *)&mutex.__data.__lock == 2);
    SILENT(pthread_mutex_unlock, &mutex);
    AWAIT(*(volatile int *)&((pthread_mutex_t *)&standard)->__data.__lock == 2);
    SILENT(mtx_unlock, &standard);
    AWAIT(*(volatile unsigned *)&lock.__data.__readers >= 8);
    AWAIT(*(volatile unsigned *)&lock.__data.__wrphase_futex & 2);
    SILENT(pthread_rwlock_unlock, &lock);
    AWAIT(*(volatile uint64_t *)&semaphore >> 32);
    SILENT(sem_post, &semaphore);
    await(3);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock); /* a read lock is free for readers */
    reach(4);
    AWAIT(*(volatile unsigned *)&lock.__data.__readers & 2);
    AWAIT(*(volatile unsigned *)&lock.__data.__wrphase_futex & 2);
    SILENT(pthread_rwlock_unlock, &lock);
    SILENT(pthread_rwlock_unlock, &lock);
    CALL(pthread_join, thread, &result);
    told("result", (long)result);
    CALL(pthread_mutex_unlock, &timed); /* a wait has left them marked, so they call the OS */
    CALL(mtx_unlock, &standard_timed);
}

static int quick(void *unused)
{
    (void)unused;
    return 5;
}

static void *at_barrier(void *unused)
{
    SILENT(pthread_barrier_wait, unused ? unused : &barrier);
    return NULL;
}

static void joining(void)
{
    pthread_t thread;
    thrd_t another;
    int result = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    CALL(pthread_create, &thread, NULL, at_barrier, NULL);
    CALL(pthread_tryjoin_np, thread, NULL);
    CALL(pthread_timedjoin_np, thread, NULL, &past);
    CALL(pthread_clockjoin_np, thread, NULL, CLOCK_MONOTONIC, &past);
    at_barrier(NULL);
    CALL(pthread_join, thread, NULL);
    CALL(thrd_create, &another, quick, NULL);
    CALL(thrd_join, another, &result);
    told("result", result);
}

/* With a clock of its own, which the oldest version of these functions does not support. */
static void conditions(void)
{
    pthread_cond_t condition;
    pthread_condattr_t attributes;
    struct timespec soon;
    cnd_t other;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    cnd_init(&other);
    pthread_mutex_lock(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_sec += soon.tv_nsec / 990000000;
    soon.tv_nsec = (soon.tv_nsec + 10000000) % 1000000000;
    CALL(pthread_cond_timedwait, &condition, &mutex, &soon);
    CALL(pthread_cond_clockwait, &condition, &mutex, CLOCK_MONOTONIC, &soon);
    CALL(pthread_mutex_unlock, &mutex);
    mtx_lock(&standard);
    CALL(cnd_timedwait, &other, &standard, &past);
    CALL(mtx_unlock, &standard);
}

static int ready;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static NOT_INSTRUMENTED void *change(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex); /* held by the waiting thread until it waits */
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void waiting(void)
{
    pthread_t thread;
    ready = 0;
    pthread_mutex_lock(&mutex);
    CALL(pthread_create, &thread, NULL, change, NULL);
    while (!ready)
        CALL(pthread_cond_wait, &changed, &mutex);
    CALL(pthread_mutex_unlock, &mutex);
    CALL(pthread_join, thread, NULL);
}

void with_threads(void)
{
    step = 0;
    sem_init(&semaphore, 0, 0);
    mtx_init(&standard, mtx_timed);
    mtx_init(&standard_timed, mtx_timed);
    contended();
    joining();
    conditions();
    waiting();
}
