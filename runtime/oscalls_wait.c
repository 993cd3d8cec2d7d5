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

#include "bus_signal.h"
#include "endings.h"

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

/* The parent records its children's ends before the row ends. The program may pass no place for the status. */
#define OS_WAIT(name, parameters, arguments)                                                                           \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE pid_t name parameters                                                                    \
    {                                                                                                                  \
        pid_t(*real) parameters = (pid_t(*) parameters)os_call_next(&next_##name, #name);                              \
        int own_status_;                                                                                               \
        if (!status)                                                                                                   \
            status = &own_status_;                                                                                     \
        const bool row_ = os_call_begin(OS_##name, __builtin_return_address(0));                                       \
        const pid_t value_ = real arguments;                                                                           \
        if (value_ > 0)                                                                                                \
            ending_of_child(value_, *status);                                                                          \
        if (row_)                                                                                                      \
            os_call_end(OS_##name);                                                                                    \
        return value_;                                                                                                 \
    }

OS_WAIT(wait, (int *status), (status))
OS_WAIT(waitpid, (pid_t pid, int *status, int options), (pid, status, options))
OS_WAIT(wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
OS_WAIT(wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))

static void wait_note_end(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        ending_of_child(info->si_pid, W_EXITCODE(info->si_status, 0));
    else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
        ending_of_child(info->si_pid, W_EXITCODE(0, info->si_status));
}

/* A child that stays to be waited for is recorded the last time. */
INTERPOSED(waitid);
DWELL_EXPORT OS_CALL_CODE int waitid(idtype_t kind, id_t id, siginfo_t *info, int options)
{
    int (*real)(idtype_t, id_t, siginfo_t *, int) =
        (int (*)(idtype_t, id_t, siginfo_t *, int))os_call_next(&next_waitid, "waitid");
    siginfo_t own_info;
    if (!info)
        info = &own_info;
    const bool row = os_call_begin(OS_waitid, __builtin_return_address(0));
    const int value = real(kind, id, info, options);
    if (value == 0 && info->si_pid > 0 && !(options & WNOWAIT))
        wait_note_end(info);
    if (row)
        os_call_end(OS_waitid);
    return value;
}

/* ---- threads ---- */

/* The new thread inherits the mask. */
INTERPOSED(pthread_create);
DWELL_EXPORT OS_CALL_CODE int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                             void *argument)
{
    typeof(pthread_create) *real = os_call_next(&next_pthread_create, "pthread_create");
    const bool row = os_call_begin(OS_pthread_create, __builtin_return_address(0));
    const struct bus_shown shown = bus_show(false);
    const int result = real(thread, attributes, run, argument);
    bus_hide(shown);
    if (row)
        os_call_end(OS_pthread_create);
    return result;
}

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
