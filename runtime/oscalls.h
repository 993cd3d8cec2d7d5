/* How the oscalls_*.c and interpose_exec.c make a call of libc a row: see oscalls.c. */
#ifndef DWELL_RUNTIME_OSCALLS_H
#define DWELL_RUNTIME_OSCALLS_H

/* Before libc's headers: each name is to mean the function of that very name. */
#undef _FILE_OFFSET_BITS
#define __NO_INLINE__ 1

#include "interpose.h"
#include "oscalls_names.h"
#include "probes.h"
#include "runtime.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

enum os_call {
#define OS_CALL_NUMBER(name) OS_##name,
    OS_CALLS(OS_CALL_NUMBER)
#undef OS_CALL_NUMBER
        OS_CALL_COUNT,
};

/* Whose rows they are: where libc's functions lie; zero: not known. */
extern uint64_t os_call_rows[OS_CALL_COUNT];

/* Whether the call that its caller is about to make is to be a row of the thread. */
bool os_call_is_row(enum os_call call);

/* The end of a row: in the first, the OS worked; in the second, what watches the OS is to tell whether it did. */
void os_call_end(enum os_call call);
void os_call_end_of_lock(enum os_call call);

/* A function that fails by ENOSYS, where libc has none of that name. */
void *os_call_look_up(void **cache, const char *name);

#pragma GCC visibility pop

/* The functions that begin a row are in a section of their own: so an entry of the shadow stack shows by where its
 * probe returned to whether it is one. */
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

/*
 * A function of libc's: `row` is the one that its row is named by, `condition` whether it may need the OS at all, `end`
 * the function for its end. No frame of ours is left where nothing is recorded. A thread that is cancelled in it, and a
 * handler that leaves it, skip our frame: the thread's next event finds that the call was left.
 */
#define OS_CALL_BY(condition, end, row, result, name, parameters, arguments)                                           \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE result name parameters                                                                   \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)os_call_next(&next_##name, #name);                            \
        if (!(condition) || !os_call_begin(OS_##row, __builtin_return_address(0)))                                     \
            return real arguments;                                                                                     \
        result value_ = real arguments;                                                                                \
        end(OS_##row);                                                                                                 \
        return value_;                                                                                                 \
    }

#define OS_CALL(result, name, parameters, arguments)                                                                   \
    OS_CALL_BY(true, os_call_end, name, result, name, parameters, arguments)

#define OS_CALL_AS(row, result, name, parameters, arguments)                                                           \
    OS_CALL_BY(true, os_call_end, row, result, name, parameters, arguments)

#endif
