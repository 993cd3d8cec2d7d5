/* Interposed calls that wait for signals, and that send them. See oscalls.c. */
#include "oscalls.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"

/* The clock of a thread's CPU time holds its tid (pthread_getcpuclockid(3), clock_getres(2)). */
uint32_t os_call_tid(pthread_t thread)
{
    enum { TID_SHIFT = 3 };
    static void *clock_of;
    typeof(pthread_getcpuclockid) *real = os_call_next(&clock_of, "pthread_getcpuclockid");
    clockid_t clock;
    return real(thread, &clock) == 0 ? (uint32_t) ~(clock >> TID_SHIFT) : 0;
}

/* ---- waiting ---- */

/* A signal ended the wait, unless its time was over. */
static void signal_end_wait(enum os_call call, bool time_is_over)
{
    const struct thread *t = thread_self;
    const struct object object = {
        .kind = DWELL_OBJECT_SIGNAL,
        .role = time_is_over ? DWELL_ROLE_GAVE_UP : DWELL_ROLE_WAITED,
        .id = t ? (uint64_t)SYS0(getpid) << 32 | t->tid : 0,
    };
    os_call_end_wait(call, &object);
}

#define OS_AWAITS_SIGNAL(name, parameters, arguments)                                                                  \
    OS_CALL_THEN(true, signal_end_wait(OS_##name, value_ == -1 && errno == EAGAIN), name, int, name, parameters,       \
                 arguments)

OS_AWAITS_SIGNAL(pause, (void), ())
OS_AWAITS_SIGNAL(sigsuspend, (const sigset_t *mask), (mask))
OS_AWAITS_SIGNAL(sigwait, (const sigset_t *set, int *number), (set, number))
OS_AWAITS_SIGNAL(sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
OS_AWAITS_SIGNAL(sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *time), (set, info, time))

/* ---- sending ---- */

/* `number`: pid << 32 for any thread of a process, or the tid of one; zero if it is not known, or for groups of
 * processes. Signal 0 only asks. */
static void signal_end_act(enum os_call call, uint64_t number, int signal, int result)
{
    const struct object object = { .kind = DWELL_OBJECT_SIGNAL, .role = DWELL_ROLE_ACTED, .id = number };
    if (number && signal && result == 0)
        os_call_end_act(call, &object);
    else
        os_call_end(call);
}

#define OS_SENDS_SIGNAL(number, name, parameters, arguments)                                                           \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name parameters                                                                      \
    {                                                                                                                  \
        int(*real) parameters = (int(*) parameters)os_call_next(&next_##name, #name);                                  \
        if (!os_call_begin(OS_##name, __builtin_return_address(0)))                                                    \
            return real arguments;                                                                                     \
        const uint64_t number_ = number;                                                                               \
        const int value_ = real arguments;                                                                             \
        signal_end_act(OS_##name, number_, signal, value_);                                                            \
        return value_;                                                                                                 \
    }

#define SIGNALED_PROCESS (pid > 0 ? (uint64_t)pid << 32 : 0)

OS_SENDS_SIGNAL(SIGNALED_PROCESS, kill, (pid_t pid, int signal), (pid, signal))
OS_SENDS_SIGNAL(SIGNALED_PROCESS, sigqueue, (pid_t pid, int signal, const union sigval value), (pid, signal, value))
OS_SENDS_SIGNAL((uint32_t)tid, tgkill, (pid_t pid, pid_t tid, int signal), (pid, tid, signal))
OS_SENDS_SIGNAL(os_call_tid(thread), pthread_kill, (pthread_t thread, int signal), (thread, signal))
OS_SENDS_SIGNAL(os_call_tid(thread), pthread_sigqueue, (pthread_t thread, int signal, const union sigval value),
                (thread, signal, value))
