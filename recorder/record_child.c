/* Starts the recorded program with the runtime's environment, waits for its end, and ends dwell with the same status.
 */
#include "recorder/record_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/memory.h"
#include "recorder/runtime_library.h"
#include "recorder/sampler.h"
#include "recorder/session_guard.h"
#include "session.h"

/* ---- the environment ---- */

static struct child_environment record_child_settings(const struct record_settings *s, const char *session)
{
    struct child_environment child = child_environment_copy();
    child_environment_set(&child, "DWELL_OUTPUT", session);
    if (s->clock)
        child_environment_set(&child, "DWELL_CLOCK", s->clock);
    if (s->os_events)
        child_environment_set(&child, "DWELL_OS_EVENTS", s->os_events);
    if (s->paused)
        child_environment_set(&child, "DWELL_START", "paused");
    if (s->dump_on)
        child_environment_set_number(&child, "DWELL_DUMP_ON", (unsigned long)s->dump_on);
    if (s->monitor)
        child_environment_set_number(&child, "DWELL_MONITOR", s->monitor);
    if (s->events)
        child_environment_set(&child, "DWELL_EVENTS", s->events);
    if (s->no_follow)
        child_environment_set(&child, "DWELL_FOLLOW", "no");
    if (s->no_os_calls)
        child_environment_set(&child, "DWELL_OS_CALLS", "off");
    return child;
}

bool record_child_environment(const struct record_settings *s, const struct executable *e, const char *session,
                              struct child_environment *child, struct error *error)
{
    struct runtime_library library = { NULL, NULL };
    if (!e->has_runtime)
        library = runtime_library_find();
    if (library.wrong)
        error_set(error, "%s", library.wrong);
    else
        *child = record_child_settings(s, session);
    if (library.path && !library.wrong)
        child_environment_append(child, "LD_PRELOAD", library.path);
    const bool found = !library.wrong;
    free(library.wrong);
    free(library.path);
    return found;
}

void record_child_join(struct child_environment *child, const struct session *session, const char *path)
{
    char key[SESSION_KEY_SIZE];
    if (strlen(path) >= PATH_MAX)
        return;
    session_write_key(session, path, key);
    child_environment_set(child, "DWELL_SESSION", key);
}

/* ---- the program ---- */

static pid_t record_pid;
static struct signal_relay *record_relay;

/* Whether dwell has memory while the program runs. The program goes on without: dwell waits for it, and does nothing
 * else any more. */
enum record_memory { MEMORY_THERE, MEMORY_MISSING, MEMORY_LATE /* the program has ended */ };
static enum record_memory record_memory;
static pthread_t record_waiter; /* the thread that waits for the program */
static int record_gate;         /* until it is closed, the program does not begin */

/* Runs in the new process, and starts the program as a shell would. */
static void __attribute__((noreturn))
record_child_execute(const struct executable *e, char **argv, char **environment, int report, int gate)
{
    char nothing;
    while (read(gate, &nothing, 1) < 0 && errno == EINTR) /* until dwell is ready */
        continue;
    execve(e->path, argv, environment);
    int error = errno;
    if (error == ENOEXEC) { /* a script without a first line that names its interpreter */
        size_t count = 0;
        while (argv[count])
            count++;
        char **shell = need_memory(count + 2, sizeof *shell);
        shell[0] = "sh";
        shell[1] = e->path;
        memcpy(shell + 2, argv + 1, count * sizeof *shell);
        execve("/bin/sh", shell, environment);
    }
    if (write(report, &error, sizeof error) < 0)
        _exit(STATUS_OWN_FAILURE);
    _exit(STATUS_NOT_EXECUTABLE);
}

static bool record_memory_becomes(enum record_memory now)
{
    enum record_memory there = MEMORY_THERE;
    return __atomic_compare_exchange_n(&record_memory, &there, now, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
           there == now;
}

/* The thread that waits for the program ends dwell with the program's status. Other threads stay until then. */
static void record_child_keep(void)
{
    static const char text[] = "dwell: the program goes on; its recording ends here\n";
    static bool said;
    if (!record_memory_becomes(MEMORY_MISSING))
        return;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
    while (!pthread_equal(pthread_self(), record_waiter))
        pause();
    int status;
    close(record_gate);
    if (signal_relay_wait(record_relay, record_pid, &status) >= 0)
        _exit(record_child_end_as(status));
}

/* Two pipes of the program's start. Returns zero or an errno value. */
static int record_child_pipes(int report[2], int gate[2])
{
    if (pipe2(report, O_CLOEXEC) < 0)
        return errno;
    if (pipe2(gate, O_CLOEXEC) == 0)
        return 0;
    const int error = errno;
    close(report[0]);
    close(report[1]);
    return error;
}

int record_child_run(const struct record_settings *s, const struct executable *e,
                     const struct child_environment *environment, struct sampler *sampler, struct signal_relay *relay,
                     pid_t *pid, int *error)
{
    int report[2] = { -1, -1 }, gate[2] = { -1, -1 };
    *pid = -1;
    *error = record_child_pipes(report, gate);
    if (*error)
        return -1;
    *pid = fork();
    if (*pid < 0) {
        *error = errno;
        return -1;
    }
    if (*pid == 0) {
        session_guard_end();
        signal_relay_leave(relay);
        close(gate[1]);
        record_child_execute(e, s->program, environment->list, report[1], gate[0]);
    }
    record_pid = *pid;
    record_relay = relay;
    record_waiter = pthread_self();
    record_gate = gate[1];
    memory_set_keeper(record_child_keep);
    close(report[1]);
    close(gate[0]);
    sampler_attach(sampler, *pid);
    close(gate[1]);
    bool failed = read(report[0], error, sizeof *error) == (ssize_t)sizeof *error;
    close(report[0]);
    int status;
    const pid_t waited = signal_relay_wait(relay, *pid, &status);
    if (waited >= 0 && !failed) /* before another thread that finds no memory may end dwell */
        out_of_memory_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (waited < 0 && !failed) {
        status = RECORD_CHILD_LOST;
        *error = errno; /* said at once, without memory: dwell may end for want of it */
        dprintf(STDERR_FILENO, "dwell: the program has begun, but its end is unknown: %s\n", strerror(*error));
    }
    if (!record_memory_becomes(MEMORY_LATE) && waited >= 0)
        _exit(record_child_end_as(status));
    memory_set_keeper(NULL);
    return failed ? -1 : status;
}

/* The parent process gets the wait status of the program. The program has dumped core, so dwell does not. */
int record_child_end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    signal(WTERMSIG(status), SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
