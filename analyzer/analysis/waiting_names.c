/* The list of functions that only wait. */
#include "analysis/waiting_names.h"

#include <ctype.h>
#include <string.h>

/* A decoration can follow a name. A star in the list allows a variant, too (Ex, A, W, Timeout...). docs/vsperf.md lists
 * these names as well. */
static const char *const waiting[] = {
    /* Windows */
    "WaitFor*",
    "MsgWaitFor*",
    "WSAWaitFor*",
    "WaitMessage",
    "SignalObjectAndWait",
    "SignalAndWaitForSingleObject",
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
    "RtlpWaitOnCriticalSection",
    "ReadConsole*",
    "getch",
    "getche",
    "getwch",
    /* .NET */
    "System.Threading.WaitHandle.Wait*",
    "System.Threading.WaitHandle.InternalWait*",
    "System.Threading.Monitor.Wait*",
    "System.Threading.Monitor.ObjWait*",
    "System.Threading.Thread.Sleep*",
    "System.Threading.Thread.Join*",
    "System.Console.Read*",
    /* POSIX and Linux */
    "select",
    "pselect*",
    "poll",
    "ppoll*",
    "epoll_wait",
    "epoll_pwait*",
    "io_getevents",
    "io_uring_wait*",
    "nanosleep",
    "clock_nanosleep*",
    "usleep",
    "sleep",
    "pause",
    "accept",
    "accept4",
    "readline",
    "pthread_cond_wait*",
    "pthread_cond_timedwait*",
    "pthread_cond_clockwait*",
    "pthread_join",
    "pthread_barrier_wait*",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "semop",
    "semtimedop",
    "sigwait*",
    "sigtimedwait",
    "sigsuspend",
    "waitpid",
    "waitid",
    "wait4",
    "futex_wait*",
};

/* Import tables and system services have prefixes: __imp__WaitFor..., NtWaitFor..., ZwWaitFor..., and debuggers write
 * module!name. */
static const char *waiting_bare_name(const char *name)
{
    static const char *const prefixes[] = { "imp_", "Nt", "Zw" };
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 &&
            (prefixes[i][length - 1] == '_' || isupper((unsigned char)name[length])))
            return waiting_bare_name(name + length);
    }
    return name;
}

bool is_waiting_name(const char *name)
{
    const size_t module = strcspn(name, "!(");
    name = waiting_bare_name(name[module] == '!' ? name + module + 1 : name);
    const size_t length = strcspn(name, "@(");
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        const size_t wanted = strcspn(waiting[i], "*");
        if (strncmp(name, waiting[i], wanted) == 0 && (waiting[i][wanted] == '*' || length == wanted))
            return true;
    }
    return false;
}

bool has_waiting_name(const struct analysis *analysis, uint32_t function)
{
    return analysis->summary.imported && !analysis->summary.off_cpu_known && function != PROFILE_NONE &&
           is_waiting_name(analysis->names[function].name);
}
