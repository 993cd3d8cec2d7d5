/*
 * Interposed calls of locks, condition variables, semaphores and barriers: those that wait for them, and those that end
 * such waits. See oscalls.c.
 *
 * A free lock is taken, and released, without the OS in a few nanoseconds: such calls are not rows. The object itself
 * shows whether it is free, and whether a thread waits for it, at the place that glibc's headers define. It may change
 * before libc looks. The result is then a row that waits for nothing, or a wait that belongs to the caller.
 */
#include "oscalls.h"

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "shared_memory.h"

/* ---- the objects' states ---- */

#if defined(__GLIBC__)

static inline bool mutex_is_taken(const pthread_mutex_t *mutex)
{
    if (LIKELY(*(const volatile int *)&mutex->__data.__lock == 0))
        return false;
    const struct thread *t = thread_self; /* the thread may own a recursive lock */
    return !t || (uint32_t)mutex->__data.__owner != t->tid;
}

static inline uint32_t mutex_holder(const pthread_mutex_t *mutex)
{
    return (uint32_t) * (const volatile int *)&mutex->__data.__owner;
}

enum {
    MUTEX_RECURSIVE = 1, /* this and the next ones, up to the ceiling, are parts of the type */
    MUTEX_TYPE = 3,
    MUTEX_HOLDS_TID = 16 | 32,      /* robust, priority inheritance: the lock's word holds the owner's tid */
    MUTEX_HAS_CEILING = 64,         /* the lock's word holds a priority */
    MUTEX_WAITERS = (int)0x80000000 /* the lock's word says whether threads wait */
};

/* The least usual case is a recursive lock that stays locked. */
static inline bool mutex_has_waiters(const pthread_mutex_t *mutex)
{
    const int lock = *(const volatile int *)&mutex->__data.__lock, kind = mutex->__data.__kind;
    if (LIKELY(lock == 1 || lock == 0))
        return false;
    if (kind & MUTEX_HAS_CEILING || (kind & MUTEX_HOLDS_TID && !(lock & MUTEX_WAITERS)))
        return false;
    return (kind & MUTEX_TYPE) != MUTEX_RECURSIVE || mutex->__data.__count <= 1;
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

/* Only a writer is known. */
static inline uint32_t rwlock_holder(const pthread_rwlock_t *lock)
{
    return (uint32_t) * (const volatile int *)&lock->__data.__cur_writer;
}

static inline bool rwlock_has_waiters(const pthread_rwlock_t *lock)
{
    enum { USED = 2 }; /* in both futex words */
    const volatile unsigned *phase = &lock->__data.__wrphase_futex, *writers = &lock->__data.__writers_futex;
    return (*phase | *writers) & USED;
}

static inline bool condition_has_waiters(const pthread_cond_t *condition)
{
    enum { ONE_WAITER = 8 };
    return *(const volatile unsigned *)&condition->__data.__wrefs >= ONE_WAITER;
}

/* The upper half of a semaphore's 64 bits counts its waiters. */
static inline bool semaphore_has_waiters(const sem_t *semaphore)
{
#if __HAVE_64B_ATOMICS || __SIZEOF_POINTER__ == 8
    return *(const volatile uint64_t *)semaphore >> 32;
#else
    return true;
#endif
}

#else

#define mutex_is_taken(mutex) ((void)(mutex), true)
#define mutex_holder(mutex) 0
#define mutex_has_waiters(mutex) ((void)(mutex), true)
#define rwlock_is_written(lock) ((void)(lock), true)
#define rwlock_is_used(lock) ((void)(lock), true)
#define rwlock_holder(lock) 0
#define rwlock_has_waiters(lock) ((void)(lock), true)
#define condition_has_waiters(condition) ((void)(condition), true)
#define semaphore_has_waiters(semaphore) ((void)(semaphore), true)

#endif

static inline bool semaphore_is_zero(sem_t *semaphore)
{
    int value;
    return sem_getvalue(semaphore, &value) != 0 || value <= 0;
}

/* ---- waiting ---- */

static struct object lock_of(enum dwell_object kind, const void *address, uint32_t holder)
{
    struct object object = { .kind = kind, .id = shared_memory_number(address), .holder = holder };
    wait_rows_find_holder(&object);
    return object;
}

#define OS_MUTEX(name, parameters, arguments)                                                                          \
    OS_CALL_IF(mutex_is_taken((const pthread_mutex_t *)mutex), os_call_end_of_lock,                                    \
               lock_of(DWELL_OBJECT_MUTEX, mutex, mutex_holder((const pthread_mutex_t *)mutex)), int, name,            \
               parameters, arguments)

#define OS_RWLOCK(condition, name, parameters, arguments)                                                              \
    OS_CALL_IF(condition, os_call_end_of_lock, lock_of(DWELL_OBJECT_RWLOCK, lock, rwlock_holder(lock)), int, name,     \
               parameters, arguments)

#define OS_SEMAPHORE(name, parameters, arguments)                                                                      \
    OS_CALL_IF(semaphore_is_zero(semaphore), os_call_end_of_lock, lock_of(DWELL_OBJECT_SEMAPHORE, semaphore, 0), int,  \
               name, parameters, arguments)

OS_MUTEX(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
OS_MUTEX(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until), (mutex, until))
OS_MUTEX(pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until),
         (mutex, clock, until))
OS_MUTEX(mtx_lock, (mtx_t * mutex), (mutex))
OS_MUTEX(mtx_timedlock, (mtx_t * mutex, const struct timespec *until), (mutex, until))
OS_RWLOCK(rwlock_is_written(lock), pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
OS_RWLOCK(rwlock_is_written(lock), pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until),
          (lock, until))
OS_RWLOCK(rwlock_is_written(lock), pthread_rwlock_clockrdlock,
          (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
OS_RWLOCK(rwlock_is_used(lock), pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
OS_RWLOCK(rwlock_is_used(lock), pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until),
          (lock, until))
OS_RWLOCK(rwlock_is_used(lock), pthread_rwlock_clockwrlock,
          (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
OS_SEMAPHORE(sem_wait, (sem_t * semaphore), (semaphore))
OS_SEMAPHORE(sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until))
OS_SEMAPHORE(sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until),
             (semaphore, clock, until))

/* A wait for a condition variable unlocks the mutex, which may end waits of others. */
static struct object condition_of(const void *condition, const void *mutex)
{
    return (struct object){ .kind = DWELL_OBJECT_CONDITION,
                            .id = shared_memory_number(condition),
                            .released = shared_memory_number(mutex),
                            .released_kind = DWELL_OBJECT_MUTEX };
}

#define OS_CONDITION(name, parameters, arguments)                                                                      \
    OS_CALL_ON(os_call_end_wait, condition_of(condition, mutex), int, name, parameters, arguments)

OS_CONDITION(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
OS_CONDITION(pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
             (condition, mutex, until))
OS_CONDITION(pthread_cond_clockwait,
             (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
             (condition, mutex, clock, until))
OS_CONDITION(cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
OS_CONDITION(cnd_timedwait, (cnd_t * condition, mtx_t *mutex, const struct timespec *until), (condition, mutex, until))

/* The last thread to arrive ends the waits of the others, so each call both waits and acts. */
OS_CALL_ON(os_call_end_act, lock_of(DWELL_OBJECT_BARRIER, barrier, 0), int, pthread_barrier_wait,
           (pthread_barrier_t * barrier), (barrier))

/* ---- ending waits of others ---- */

static struct object act_on(enum dwell_object kind, enum dwell_object_role role, const void *address)
{
    return (struct object){ .kind = kind, .role = role, .id = shared_memory_number(address) };
}

#define OS_ACT(condition, kind, address, name, parameters, arguments)                                                  \
    OS_CALL_IF(condition, os_call_end_act, act_on(kind, DWELL_ROLE_ACTED, address), int, name, parameters, arguments)

#define OS_ACT_ON_ALL(condition, kind, address, name, parameters, arguments)                                           \
    OS_CALL_IF(condition, os_call_end_act, act_on(kind, DWELL_ROLE_ACTED_ON_ALL, address), int, name, parameters,      \
               arguments)

OS_ACT(mutex_has_waiters(mutex), DWELL_OBJECT_MUTEX, mutex, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
OS_ACT(mutex_has_waiters((const pthread_mutex_t *)mutex), DWELL_OBJECT_MUTEX, mutex, mtx_unlock, (mtx_t * mutex),
       (mutex))
OS_ACT(rwlock_has_waiters(lock), DWELL_OBJECT_RWLOCK, lock, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
OS_ACT(condition_has_waiters(condition), DWELL_OBJECT_CONDITION, condition, pthread_cond_signal,
       (pthread_cond_t * condition), (condition))
OS_ACT_ON_ALL(condition_has_waiters(condition), DWELL_OBJECT_CONDITION, condition, pthread_cond_broadcast,
              (pthread_cond_t * condition), (condition))
OS_ACT(condition_has_waiters((const pthread_cond_t *)condition), DWELL_OBJECT_CONDITION, condition, cnd_signal,
       (cnd_t * condition), (condition))
OS_ACT_ON_ALL(condition_has_waiters((const pthread_cond_t *)condition), DWELL_OBJECT_CONDITION, condition,
              cnd_broadcast, (cnd_t * condition), (condition))
OS_ACT(semaphore_has_waiters(semaphore), DWELL_OBJECT_SEMAPHORE, semaphore, sem_post, (sem_t * semaphore), (semaphore))
