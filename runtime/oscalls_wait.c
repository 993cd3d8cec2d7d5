/* Interposed calls that wait: sleeping, locks, threads, processes. See oscalls.c. */
#include "oscalls.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* ---- sleeping ---- */

OS_CALL(unsigned, sleep, (unsigned seconds), (seconds))
OS_CALL(int, usleep, (useconds_t time), (time))
OS_CALL(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
OS_CALL(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
        (clock, flags, time, left))
OS_CALL(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left))
OS_CALL(int, pause, (void), ())
OS_CALL(int, sigsuspend, (const sigset_t *mask), (mask))
OS_CALL(int, sigwait, (const sigset_t *set, int *number), (set, number))
OS_CALL(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
OS_CALL(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *time), (set, info, time))
OS_CALL(int, sched_yield, (void), ())

/* thrd_yield has no result. */
INTERPOSED(thrd_yield);
DWELL_EXPORT OS_CALL_CODE void thrd_yield(void)
{
    void (*real)(void) = (void (*)(void))os_call_next(&next_thrd_yield, "thrd_yield");
    const bool row = os_call_begin(OS_thrd_yield, __builtin_return_address(0));
    real();
    if (row)
        os_call_end(OS_thrd_yield);
}

/* ---- processes ---- */

OS_CALL(pid_t, wait, (int *status), (status))
OS_CALL(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
OS_CALL(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
OS_CALL(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))
OS_CALL(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), (kind, id, info, options))

/* ---- threads ---- */

OS_CALL(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
        (thread, attributes, run, argument))
OS_CALL(int, pthread_join, (pthread_t thread, void **result), (thread, result))
OS_CALL(int, pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
OS_CALL(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
        (thread, result, until))
OS_CALL(int, pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
        (thread, result, clock, until))
OS_CALL(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
OS_CALL(int, pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
        (condition, mutex, until))
OS_CALL(int, pthread_cond_clockwait,
        (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
        (condition, mutex, clock, until))
OS_CALL(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
OS_CALL(int, thrd_create, (thrd_t * thread, thrd_start_t run, void *argument), (thread, run, argument))
OS_CALL(int, thrd_join, (thrd_t thread, int *result), (thread, result))
OS_CALL(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
OS_CALL(int, cnd_timedwait, (cnd_t * condition, mtx_t *mutex, const struct timespec *until), (condition, mutex, until))

/* ---- locks ---- */

/* A free lock is taken without the OS in a few nanoseconds: such calls are not rows. The lock itself shows whether it
 * is free, at the place that glibc's headers define. It may change before libc looks. The result is then a row that
 * waits for nothing, or a wait that belongs to the caller. */
#if defined(__GLIBC__)

static inline bool mutex_is_taken(const pthread_mutex_t *mutex)
{
    if (LIKELY(*(const volatile int *)&mutex->__data.__lock == 0))
        return false;
    const struct thread *t = thread_self; /* the thread may own a recursive lock */
    return !t || (uint32_t)mutex->__data.__owner != t->tid;
}

enum { WRITER_HAS_IT = 2, ONE_READER = 8 }; /* in __readers */

static inline bool rwlock_is_written(const pthread_rwlock_t *lock)
{
    return *(const volatile unsigned *)&lock->__data.__readers & WRITER_HAS_IT;
}

static inline bool rwlock_is_used(const pthread_rwlock_t *lock)
{
    const unsigned readers = *(const volatile unsigned *)&lock->__data.__readers;
    return readers & WRITER_HAS_IT || readers >= ONE_READER;
}

#else

#define mutex_is_taken(mutex) ((void)(mutex), true)
#define rwlock_is_written(lock) ((void)(lock), true)
#define rwlock_is_used(lock) ((void)(lock), true)

#endif

static inline bool semaphore_is_zero(sem_t *semaphore)
{
    int value;
    return sem_getvalue(semaphore, &value) != 0 || value <= 0;
}

#define OS_LOCK(condition, name, parameters, arguments)                                                                \
    OS_CALL_BY(condition, os_call_end_of_lock, name, int, name, parameters, arguments)

OS_LOCK(mutex_is_taken(mutex), pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
OS_LOCK(mutex_is_taken(mutex), pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until),
        (mutex, until))
OS_LOCK(mutex_is_taken(mutex), pthread_mutex_clocklock,
        (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until), (mutex, clock, until))
OS_LOCK(mutex_is_taken((const pthread_mutex_t *)mutex), mtx_lock, (mtx_t * mutex), (mutex))
OS_LOCK(mutex_is_taken((const pthread_mutex_t *)mutex), mtx_timedlock, (mtx_t * mutex, const struct timespec *until),
        (mutex, until))
OS_LOCK(rwlock_is_written(lock), pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
OS_LOCK(rwlock_is_written(lock), pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until),
        (lock, until))
OS_LOCK(rwlock_is_written(lock), pthread_rwlock_clockrdlock,
        (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
OS_LOCK(rwlock_is_used(lock), pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
OS_LOCK(rwlock_is_used(lock), pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until),
        (lock, until))
OS_LOCK(rwlock_is_used(lock), pthread_rwlock_clockwrlock,
        (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
OS_LOCK(semaphore_is_zero(semaphore), sem_wait, (sem_t * semaphore), (semaphore))
OS_LOCK(semaphore_is_zero(semaphore), sem_timedwait, (sem_t * semaphore, const struct timespec *until),
        (semaphore, until))
OS_LOCK(semaphore_is_zero(semaphore), sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until),
        (semaphore, clock, until))
