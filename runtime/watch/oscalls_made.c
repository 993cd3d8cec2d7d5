/*
 * Interposed functions that make the objects that threads wait for, and destroy them. They are not rows. Objects that
 * are made without a call (static initializers, std::mutex) have no known maker.
 */
#include "oscalls_made.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <threads.h>

#include "oscalls.h"
#include "recorder.h"
#include "shared_memory.h"

/* ---- the function ---- */

static bool maker_is_left(const struct call *call, uint64_t stack_pointer)
{
    return call->stack_pointer == 0 /* marked by frames_leave */ || call->stack_pointer < stack_pointer;
}

/* Nothing is known if the thread runs on another stack than at its last probe. */
struct maker os_call_maker(void)
{
    const struct thread *t = thread_self;
    const uint64_t stack_pointer = (uint64_t)__builtin_frame_address(0);
    if (!runtime.os_calls || !t || !t->wiped->alive || t->pause.active || stack_pointer - t->stack.low >= t->stack.span)
        return (struct maker){ 0 };
    const struct call *first = (const struct call *)t->shadow, *call = thread_call(t, thread_state(t)) - 1;
    while (call > first && (maker_is_left(call, stack_pointer) || os_call_is_open_row(call) || !recorder_shows(call)))
        call--;
    if (call <= first)
        return (struct maker){ 0 };
    return (struct maker){ .time = clock_now(runtime.clock), .function = call->function };
}

/* ---- objects with an address ---- */

static void made(const void *object)
{
    const struct maker maker = os_call_maker();
    if (runtime.os_calls)
        makers_add((uint64_t)object, &maker);
}

#define MAKES(name, parameters, arguments, object)                                                                     \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT int name parameters                                                                                   \
    {                                                                                                                  \
        int(*real) parameters = (int(*) parameters)os_call_next(&next_##name, #name);                                  \
        const int result = real arguments;                                                                             \
        if (result == 0)                                                                                               \
            made(object);                                                                                              \
        return result;                                                                                                 \
    }

#define DESTROYS(result, name, parameters, arguments, object)                                                          \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT result name parameters                                                                                \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)os_call_next(&next_##name, #name);                            \
        if (runtime.os_calls)                                                                                          \
            makers_remove((uint64_t)(object));                                                                         \
        return real arguments;                                                                                         \
    }

MAKES(pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes), mutex)
MAKES(pthread_rwlock_init, (pthread_rwlock_t * lock, const pthread_rwlockattr_t *attributes), (lock, attributes), lock)
MAKES(pthread_cond_init, (pthread_cond_t * condition, const pthread_condattr_t *attributes), (condition, attributes),
      condition)
MAKES(pthread_barrier_init, (pthread_barrier_t * barrier, const pthread_barrierattr_t *attributes, unsigned count),
      (barrier, attributes, count), barrier)
MAKES(sem_init, (sem_t * semaphore, int shared, unsigned value), (semaphore, shared, value), semaphore)
MAKES(mtx_init, (mtx_t * mutex, int type), (mutex, type), mutex)
MAKES(cnd_init, (cnd_t * condition), (condition), condition)

DESTROYS(int, pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex), mutex)
DESTROYS(int, pthread_rwlock_destroy, (pthread_rwlock_t * lock), (lock), lock)
DESTROYS(int, pthread_cond_destroy, (pthread_cond_t * condition), (condition), condition)
DESTROYS(int, pthread_barrier_destroy, (pthread_barrier_t * barrier), (barrier), barrier)
DESTROYS(int, sem_destroy, (sem_t * semaphore), (semaphore), semaphore)

/* These have no result. */
#define DESTROYS_C11(name, type)                                                                                       \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT void name(type *object)                                                                               \
    {                                                                                                                  \
        void (*real)(type *) = (void (*)(type *))os_call_next(&next_##name, #name);                                    \
        if (runtime.os_calls)                                                                                          \
            makers_remove((uint64_t)object);                                                                           \
        real(object);                                                                                                  \
    }

DESTROYS_C11(mtx_destroy, mtx_t)
DESTROYS_C11(cnd_destroy, cnd_t)

/* ---- memory that processes share, and semaphores in it ---- */

INTERPOSED(shmat);
DWELL_EXPORT void *shmat(int segment, const void *wanted, int flags)
{
    typeof(shmat) *real = os_call_next(&next_shmat, "shmat");
    void *at = real(segment, wanted, flags);
    shared_memory_add_segment(at, segment);
    return at;
}

INTERPOSED(shmdt);
DWELL_EXPORT int shmdt(const void *at)
{
    typeof(shmdt) *real = os_call_next(&next_shmdt, "shmdt");
    shared_memory_remove_segment(at);
    return real(at);
}

INTERPOSED(sem_open);
DWELL_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    const unsigned value = va_arg(rest, unsigned);
    va_end(rest);
    typeof(sem_open) *real = os_call_next(&next_sem_open, "sem_open");
    sem_t *semaphore = real(name, flags, mode, value);
    if (semaphore != SEM_FAILED)
        shared_memory_add_named(semaphore, name);
    return semaphore;
}

/* ---- descriptors that no row makes ---- */

#define MAKES_DESCRIPTOR(name, parameters, arguments)                                                                  \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT int name parameters                                                                                   \
    {                                                                                                                  \
        int(*real) parameters = (int(*) parameters)os_call_next(&next_##name, #name);                                  \
        const int fd = real arguments;                                                                                 \
        descriptor_made(fd);                                                                                           \
        return fd;                                                                                                     \
    }

MAKES_DESCRIPTOR(eventfd, (unsigned count, int flags), (count, flags))
MAKES_DESCRIPTOR(timerfd_create, (clockid_t clock, int flags), (clock, flags))
MAKES_DESCRIPTOR(signalfd, (int fd_before, const sigset_t *mask, int flags), (fd_before, mask, flags))
MAKES_DESCRIPTOR(epoll_create, (int size), (size))
