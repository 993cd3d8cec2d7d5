/* Interposed calls that wait: sleeping, threads, processes. See oscalls.c; locks are in oscalls_locks.c. */
#include "oscalls.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "fault_signals.h"
#include "levels/in_place.h"
#include "sys.h"
#include "upward.h"

/* ---- sleeping ---- */

static struct object sleep_of(uint64_t nanoseconds)
{
    return (struct object){ .kind = DWELL_OBJECT_SLEEP, .id = nanoseconds };
}

/* The time may be of any length, and invalid. */
static struct object sleep_until(const struct timespec *time, bool absolute)
{
    return sleep_of(time && !absolute ? (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec : 0);
}

#define OS_SLEEP(result, name, length, parameters, arguments)                                                          \
    OS_CALL_ON(os_call_end_wait, length, result, name, parameters, arguments)

OS_SLEEP(unsigned, sleep, sleep_of(seconds * 1000000000ull), (unsigned seconds), (seconds))
OS_SLEEP(int, usleep, sleep_of(time * 1000ull), (useconds_t time), (time))
OS_SLEEP(int, nanosleep, sleep_until(time, false), (const struct timespec *time, struct timespec *left), (time, left))
OS_SLEEP(int, clock_nanosleep, sleep_until(time, flags &TIMER_ABSTIME),
         (clockid_t clock, int flags, const struct timespec *time, struct timespec *left), (clock, flags, time, left))
OS_SLEEP(int, thrd_sleep, sleep_until(time, false), (const struct timespec *time, struct timespec *left), (time, left))
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

static struct object wait_child(pid_t pid)
{
    return (struct object){ .kind = DWELL_OBJECT_CHILD, .id = pid > 0 ? (uint64_t)pid : 0 };
}

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
            upward.child_ended(value_, *status);                                                                       \
        const struct object child_ = wait_child(value_);                                                               \
        if (row_)                                                                                                      \
            os_call_end_wait(OS_##name, &child_);                                                                      \
        return value_;                                                                                                 \
    }

OS_WAIT(wait, (int *status), (status))
OS_WAIT(waitpid, (pid_t pid, int *status, int options), (pid, status, options))
OS_WAIT(wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
OS_WAIT(wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))

static void wait_note_end(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        upward.child_ended(info->si_pid, W_EXITCODE(info->si_status, 0));
    else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
        upward.child_ended(info->si_pid, W_EXITCODE(0, info->si_status));
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
    const struct object child = wait_child(value == 0 ? info->si_pid : 0);
    if (row)
        os_call_end_wait(OS_waitid, &child);
    return value;
}

/* ---- threads ---- */

/* libc describes where it keeps a thread's tid, for debuggers. */
struct tid_field {
    uint32_t bits, count, offset;
};

/* The tid of a thread that may have ended, and whose memory may be gone: zero if unknown. */
static uint32_t tid_of_created(pthread_t thread)
{
    static void *field;
    const struct tid_field *tid = interpose_next(&field, "_thread_db_pthread_tid");
    uint32_t found = 0;
    if (!tid || tid->bits != 8 * sizeof found)
        return 0;
    struct iovec here = { &found, sizeof found }, there = { (char *)thread + tid->offset, sizeof found };
    return SYS6(process_vm_readv, SYS0(getpid), &here, 1, &there, 1, 0) == sizeof found ? found : 0;
}

/* Ends the row of a call that has made a thread. */
static void wait_end_creation(enum os_call call, bool made, const pthread_t *thread)
{
    const int error = errno;
    const uint32_t tid = made && runtime.os_calls ? tid_of_created(*thread) : 0;
    errno = error;
    if (!tid) {
        os_call_end(call);
        return;
    }
    const struct object object = { .kind = DWELL_OBJECT_THREAD, .role = DWELL_ROLE_ACTED, .id = tid };
    os_call_end_act(call, &object);
}

/* In glibc 2.32 and later. */
INTERPOSED(pthread_attr_getsigmask_np);
static bool wait_has_mask(const pthread_attr_t *attributes)
{
    typedef int function(const pthread_attr_t *, sigset_t *);
    function *get = (function *)interpose_next(&next_pthread_attr_getsigmask_np, "pthread_attr_getsigmask_np");
    sigset_t mask;
    return attributes && get && get(attributes, &mask) == 0;
}

/* The new thread inherits the mask. */
INTERPOSED(pthread_create);
DWELL_EXPORT OS_CALL_CODE int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                             void *argument)
{
    typeof(pthread_create) *real = os_call_next(&next_pthread_create, "pthread_create");
    const bool row = os_call_begin(OS_pthread_create, __builtin_return_address(0));
    const struct fault_shown shown = fault_show(false);
    struct in_place_start start = { .run = run, .argument = argument, .masked = wait_has_mask(attributes) };
    in_place_begin_creation(&start);
    const int result = real(thread, attributes, start.run, start.argument);
    in_place_end_creation(&start, result == 0);
    fault_hide(shown);
    if (row)
        wait_end_creation(OS_pthread_create, result == 0, thread);
    return result;
}

INTERPOSED(thrd_create);
DWELL_EXPORT OS_CALL_CODE int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    typeof(thrd_create) *real = os_call_next(&next_thrd_create, "thrd_create");
    const bool row = os_call_begin(OS_thrd_create, __builtin_return_address(0));
    struct in_place_start start = { .run_c11 = run, .argument = argument };
    in_place_begin_creation(&start);
    const int result = real(thread, start.run_c11, start.argument);
    in_place_end_creation(&start, result == thrd_success);
    if (row)
        wait_end_creation(OS_thrd_create, result == thrd_success, thread);
    return result;
}

static struct object join_of(pthread_t thread)
{
    return (struct object){ .kind = DWELL_OBJECT_THREAD, .id = os_call_tid(thread) };
}

#define OS_JOIN(name, parameters, arguments)                                                                           \
    OS_CALL_ON(os_call_end_wait, join_of(thread), int, name, parameters, arguments)

OS_JOIN(pthread_join, (pthread_t thread, void **result), (thread, result))
OS_JOIN(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
OS_JOIN(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until), (thread, result, until))
OS_JOIN(pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
        (thread, result, clock, until))
OS_JOIN(thrd_join, (thrd_t thread, int *result), (thread, result))
