/* The list of functions that only wait. */
#include "analysis/waits.h"

#include <ctype.h>
#include <string.h>

/* A decoration can follow a name. A star in the list allows a variant, too (Ex, A, W, Timeout...). */
static const char *const waiting[] = {
    "WaitFor*",
    "MsgWaitFor*",
    "WaitMessage",
    "SignalObjectAndWait",
    "Sleep",
    "SleepEx",
    "SleepConditionVariable*",
    "WaitOnAddress",
    "DelayExecution",
    "RemoveIoCompletion*",
    "GetQueuedCompletionStatus*",
    "GetMessage",
    "GetMessageA",
    "GetMessageW",
    "UserGetMessage",
    "UserWaitMessage",
    "SignalAndWaitForSingleObject",
    "RtlpWaitOnCriticalSection",
    "WaitForWorkViaWorkerFactory",
    "select",
    "pselect*",
    "poll",
    "ppoll*",
    "epoll_wait",
    "epoll_pwait*",
    "nanosleep",
    "clock_nanosleep*",
    "usleep",
    "sleep",
    "pause",
    "pthread_cond_wait*",
    "pthread_cond_timedwait*",
    "sem_wait",
    "sem_timedwait",
    "sigwait*",
    "waitpid",
    "futex_wait*",
};

/* Import tables and system services have prefixes: __imp__WaitFor..., NtWaitFor..., ZwWaitFor... */
static const char *waits_bare_name(const char *name)
{
    static const char *const prefixes[] = { "imp_", "Nt", "Zw" };
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 &&
            (prefixes[i][length - 1] == '_' || isupper((unsigned char)name[length])))
            return waits_bare_name(name + length);
    }
    return name;
}

bool function_waits(const char *name)
{
    name = waits_bare_name(name);
    const size_t length = strcspn(name, "@(");
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        const size_t wanted = strcspn(waiting[i], "*");
        if (strncmp(name, waiting[i], wanted) == 0 && (waiting[i][wanted] == '*' || length == wanted))
            return true;
    }
    return false;
}
