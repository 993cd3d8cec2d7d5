/* How the oscalls_*.c and interpose_exec.c make a call of libc a row: see oscalls.c. */
#ifndef DWELL_RUNTIME_OSCALLS_H
#define DWELL_RUNTIME_OSCALLS_H

/* These come before libc's headers, so that each name means the function of that name. */
#undef _FILE_OFFSET_BITS
#define __NO_INLINE__ 1

#include "descriptors.h"
#include "interposed.h"
#include "objects.h"
#include "oscalls_names.h"
#include "probes.h"
#include "runtime.h"
#include "thread.h"

#include <pthread.h>
#include <stdio.h>

#pragma GCC visibility push(hidden)

enum os_call {
#define OS_CALL_NUMBER(name) OS_##name,
    OS_CALLS(OS_CALL_NUMBER)
#undef OS_CALL_NUMBER
        OS_CALL_COUNT,
};

/* The addresses of libc's functions, which identify the rows; zero if unknown. */
extern uint64_t os_call_rows[OS_CALL_COUNT];

/* Whether an open call is a row. */
bool os_call_is_open_row(const struct call *call);

/* Returns whether the call that the caller is about to make becomes a row of the thread. */
bool os_call_is_row(enum os_call call);

/* The same for a call that was made at this stack pointer. `outermost`: it is a row even outside of instrumented
 * functions. */
bool os_call_is_row_at(enum os_call call, uint64_t stack_pointer, bool outermost);

/* End a row. `object`: what the call waited for; recorded only if the OS intervened. The first two flag the row's
 * interval. The third leaves that to the thread's source of OS events. The last one ends a row that acted on the
 * object, which is always recorded. */
void os_call_end(enum os_call call);
void os_call_end_wait(enum os_call call, const struct object *object);
void os_call_end_of_lock(enum os_call call, const struct object *object);
void os_call_end_act(enum os_call call, const struct object *object);

/* The same for a row that probe_enter_at began with that stack pointer. */
void os_call_end_at(enum os_call call, const struct object *object, uint64_t stack_pointer);

/* Ends a row on a descriptor. The call waited if the OS intervened, and acted if it did not fail. */
void os_call_end_descriptor(enum os_call call, int fd, struct object *object, bool acted);

/* Whether the OS has intervened since the row began, and what the call waited for is recorded. */
bool os_call_may_have_waited(void);

/* End rows that gave a number to another descriptor, or took it away. The latter acted if the result is not negative.
 */
void os_call_end_open(enum os_call call, int fd);
void os_call_end_close(enum os_call call, struct object *object, int result);

/* The thread's tid; zero if it has ended. */
uint32_t os_call_tid(pthread_t thread);

/* Returns libc's function and keeps it in `cache`. If libc lacks it, returns a function that fails with ENOSYS. */
void *os_call_look_up(void **cache, const char *name);

#pragma GCC visibility pop

/* The functions that begin a row have a section of their own. So the return address of a probe, kept in the shadow
 * stack, shows whether an entry is a row. */
#define OS_CALL_CODE __attribute__((section("dwell_os_calls"), noinline))

static ALWAYS_INLINE bool os_call_begin(enum os_call call, void *return_address)
{
    if (LIKELY(!runtime.os_calls || !thread_self) || !os_call_is_row(call))
        return false;
    probe_enter((void *)os_call_rows[call], return_address);
    return true;
}

static inline void *os_call_next(void **cache, const char *name)
{
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    return LIKELY(found) ? found : os_call_look_up(cache, name);
}

/* The descriptor of a stream; negative if it has none. */
static inline int stream_fd(const FILE *stream)
{
#if defined(__GLIBC__)
    return stream ? stream->_fileno : -1;
#else
    (void)stream;
    return -1;
#endif
}

/* Defines a function of libc. `row` names its row, `condition` says whether the call may need the OS, and `end` is
 * a statement that ends the row, by the result `value_`. If nothing is recorded, there is no frame of the runtime. A
 * cancelled thread and a handler that jumps skip that frame: the thread's next event then finds that the call was left.
 */
#define OS_CALL_THEN(condition, end, row, result, name, parameters, arguments)                                         \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE result name parameters                                                                   \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)os_call_next(&next_##name, #name);                            \
        if (!(condition) || !os_call_begin(OS_##row, __builtin_return_address(0)))                                     \
            return real arguments;                                                                                     \
        result value_ = real arguments;                                                                                \
        end;                                                                                                           \
        return value_;                                                                                                 \
    }

/* The same for a function `end`, which needs only the row. */
#define OS_CALL_BY(condition, end, row, result, name, parameters, arguments)                                           \
    OS_CALL_THEN(condition, end(OS_##row), row, result, name, parameters, arguments)

/* The error of a call of libc's functions for locks. Those for threads return it, those of C11 a number of their own.
 */
static inline long os_call_error(long result)
{
    enum { C11_TIMED_OUT = 4 };
    if (result == -1)
        return errno;
    return result == C11_TIMED_OUT ? ETIMEDOUT : result;
}

#define OS_CALL_FUNCTION(function, condition, end, about, result, name, parameters, arguments)                         \
    OS_CALL_CODE result function parameters                                                                            \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)os_call_next(&next_##name, #name);                            \
        if (!(condition) || !os_call_begin(OS_##name, __builtin_return_address(0)))                                    \
            return real arguments;                                                                                     \
        struct object object_ = about;                                                                                 \
        result value_ = real arguments;                                                                                \
        object_settle(&object_, os_call_error((long)value_));                                                          \
        end(OS_##name, &object_);                                                                                      \
        return value_;                                                                                                 \
    }

/* The same for a call with an object, an expression that is evaluated before the call. */
#define OS_CALL_ON(end, about, result, name, parameters, arguments)                                                    \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_FUNCTION(name, true, end, about, result, name, parameters, arguments)

/* The same for a call that seldom fulfils the condition. If it does not, libc's function is called before any register
 * is saved. The rest is entered by a jump, so its return address is the program's. */
#define OS_CALL_IF(condition, end, about, result, name, parameters, arguments)                                         \
    INTERPOSED(name);                                                                                                  \
    static OS_CALL_FUNCTION(busy_##name, condition, end, about, result, name, parameters, arguments)                   \
        DWELL_EXPORT OS_CALL_CODE result name parameters                                                               \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)__atomic_load_n(&next_##name, __ATOMIC_RELAXED);              \
        if (LIKELY(real && !(condition)))                                                                              \
            return real arguments;                                                                                     \
        return busy_##name arguments;                                                                                  \
    }

/* The same for a call on the descriptor `fd`. `before` is done even if the call is no row, `after` behind a row's call,
 * and `acted` says whether it may have ended waits. */
#define OS_CALL_ON_DESCRIPTOR(condition, fd, about, before, after, acted, row, result, name, parameters, arguments)    \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE result name parameters                                                                   \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)os_call_next(&next_##name, #name);                            \
        before;                                                                                                        \
        if (!(condition) || !os_call_begin(OS_##row, __builtin_return_address(0)))                                     \
            return real arguments;                                                                                     \
        struct object object_ = about;                                                                                 \
        result value_ = real arguments;                                                                                \
        after;                                                                                                         \
        os_call_end_descriptor(OS_##row, fd, &object_, acted);                                                         \
        return value_;                                                                                                 \
    }

#define NOTHING (void)0

#define OS_READ_AS(row, result, name, parameters, arguments)                                                           \
    OS_CALL_ON_DESCRIPTOR(true, fd, descriptor_read(fd), NOTHING, NOTHING, value_ >= 0, row, result, name, parameters, \
                          arguments)
#define OS_READ(result, name, parameters, arguments) OS_READ_AS(name, result, name, parameters, arguments)
#define OS_WRITE(result, name, parameters, arguments)                                                                  \
    OS_CALL_ON_DESCRIPTOR(true, fd, descriptor_written(fd), NOTHING, NOTHING, value_ >= 0, name, result, name,         \
                          parameters, arguments)
#define OS_ON_FILE(result, name, parameters, arguments)                                                                \
    OS_CALL_ON_DESCRIPTOR(true, fd, descriptor_waited(fd), NOTHING, NOTHING, false, name, result, name, parameters,    \
                          arguments)

/* A call that makes an object, whose descriptor is the result. */
#define OS_MADE(name, parameters, arguments)                                                                           \
    OS_CALL_ON_DESCRIPTOR(true, value_, (struct object){ 0 }, NOTHING, descriptor_made(value_), false, name, int,      \
                          name, parameters, arguments)

/* A call whose result is a descriptor of an object that exists, such as a file. */
#define OS_OPENED(name, parameters, arguments) OS_OPENED_AS(name, name, parameters, arguments)
#define OS_OPENED_AS(row, name, parameters, arguments)                                                                 \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name parameters                                                                      \
    {                                                                                                                  \
        int(*real) parameters = (int(*) parameters)os_call_next(&next_##name, #name);                                  \
        if (!os_call_begin(OS_##row, __builtin_return_address(0)))                                                     \
            return real arguments;                                                                                     \
        const int value_ = real arguments;                                                                             \
        os_call_end_open(OS_##row, value_);                                                                            \
        return value_;                                                                                                 \
    }

#define OS_CALL(result, name, parameters, arguments)                                                                   \
    OS_CALL_BY(true, os_call_end, name, result, name, parameters, arguments)

#define OS_CALL_AS(row, result, name, parameters, arguments)                                                           \
    OS_CALL_BY(true, os_call_end, row, result, name, parameters, arguments)

#endif
