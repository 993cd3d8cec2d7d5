/* Starts the recorded program with the runtime's environment, passes signals on to it, waits for its end, and ends
 * dwell with the same status. */
#include "commands/record_child.h"

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

#include "base/interrupted.h"
#include "base/memory.h"
#include "commands/commands.h"
#include "commands/runtime_library.h"
#include "commands/sampler.h"
#include "commands/session_guard.h"
#include "session.h"

/* ---- the environment ---- */

struct child_environment record_child_environment(const struct record_settings *s, const struct executable *e,
                                                  const char *session)
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
    if (e->has_runtime)
        return child;
    struct runtime_library library = runtime_library_find();
    if (library.wrong)
        die(STATUS_OWN_FAILURE, "%s", library.wrong);
    child_environment_append(&child, "LD_PRELOAD", library.path);
    free(library.path);
    return child;
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

static volatile sig_atomic_t child;

/* Whether dwell has memory while the program runs. The program goes on without: dwell waits for it, and does nothing
 * else any more. */
enum record_memory { MEMORY_THERE, MEMORY_MISSING, MEMORY_LATE /* the program has ended */ };
static enum record_memory record_memory;
static pthread_t record_waiter; /* the thread that waits for the program */
static int record_gate;         /* until it is closed, the program does not begin */

/* Passes a signal sent to dwell on to the program. The terminal sends its signals to both. */
static void record_child_pass_on_signal(int number)
{
    if (child > 0)
        kill((pid_t)child, number);
}

static void record_child_set_signal_handler(int number, void (*handler)(int), struct sigaction *before)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, before);
}

static const int terminal_signals[] = { SIGINT, SIGQUIT };
static const int sent_signals[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
enum { TERMINAL_SIGNALS = 2, SENT_SIGNALS = 4, CHILD = TERMINAL_SIGNALS + SENT_SIGNALS, ALL_SIGNALS };

/* SIGCHLD may be ignored since dwell's start. Then the kernel would forget the program's status. */
static void record_child_guard_signals(struct sigaction *before)
{
    record_child_set_signal_handler(SIGCHLD, SIG_DFL, &before[CHILD]);
    for (int i = 0; i < TERMINAL_SIGNALS; i++)
        record_child_set_signal_handler(terminal_signals[i], SIG_IGN, &before[i]);
    for (int i = 0; i < SENT_SIGNALS; i++)
        record_child_set_signal_handler(sent_signals[i], record_child_pass_on_signal, &before[TERMINAL_SIGNALS + i]);
}

static void record_child_unguard_signals(const struct sigaction *before)
{
    sigaction(SIGCHLD, &before[CHILD], NULL);
    for (int i = 0; i < TERMINAL_SIGNALS; i++)
        sigaction(terminal_signals[i], &before[i], NULL);
    for (int i = 0; i < SENT_SIGNALS; i++)
        sigaction(sent_signals[i], &before[TERMINAL_SIGNALS + i], NULL);
}

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

/* Returns what waitpid does. */
static pid_t record_child_wait(pid_t pid, int *status)
{
    pid_t waited;
    struct interruptions interruptions = { 0 };
    while ((waited = waitpid(pid, status, 0)) < 0 && interrupted(&interruptions))
        continue;
    return waited;
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
    if (record_child_wait((pid_t)child, &status) >= 0)
        _exit(record_child_end_as(status));
}

int record_child_run(const struct record_settings *s, const struct executable *e,
                     const struct child_environment *environment, struct sampler *sampler, pid_t *pid, int *error)
{
    int pipes[2], gate[2];
    struct sigaction before[ALL_SIGNALS];
    sigset_t all, mask;
    *pid = -1;
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        *error = errno;
        return -1;
    }
    if (pipe2(gate, O_CLOEXEC) < 0) {
        *error = errno;
        close(pipes[0]);
        close(pipes[1]);
        return -1;
    }
    sigfillset(&all);
    sigdelset(&all, SIGBUS);               /* session_guard.c */
    sigprocmask(SIG_SETMASK, &all, &mask); /* no signal is lost before `child` is set */
    record_child_guard_signals(before);
    *pid = fork();
    if (*pid < 0) {
        *error = errno;
        return -1;
    }
    if (*pid == 0) {
        record_child_unguard_signals(before);
        session_guard_end();
        sigprocmask(SIG_SETMASK, &mask, NULL);
        close(gate[1]);
        record_child_execute(e, s->program, environment->list, pipes[1], gate[0]);
    }
    child = (sig_atomic_t)*pid;
    record_waiter = pthread_self();
    record_gate = gate[1];
    memory_set_keeper(record_child_keep);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(pipes[1]);
    close(gate[0]);
    sampler_attach(sampler, *pid);
    close(gate[1]);
    bool failed = read(pipes[0], error, sizeof *error) == (ssize_t)sizeof *error;
    close(pipes[0]);
    int status;
    const pid_t waited = record_child_wait(*pid, &status);
    if (!record_memory_becomes(MEMORY_LATE) && waited >= 0)
        _exit(record_child_end_as(status));
    memory_set_keeper(NULL);
    if (waited < 0 && !failed) {
        status = RECORD_CHILD_LOST;
        *error = errno;
    } else if (!failed) {
        memory_set_status(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    child = 0;
    record_child_unguard_signals(before);
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
