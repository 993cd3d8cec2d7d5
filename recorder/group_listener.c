/*
 * The process is a fork of dwell, so it calls nothing that may take a lock. It has dwell's group, all signals blocked,
 * and one descriptor. It answers questions over a socket, and ends when dwell closes that or dies.
 *
 * Its name is not dwell's: who ends all processes called dwell means the recorder, and the program has nothing of that.
 */
#include "recorder/group_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "clock.h"

enum {
    LISTENER_PATIENCE = 2000, /* milliseconds to wait for an answer */
    WATCH_INTERVAL = 100,     /* milliseconds */
    MAX_DESCRIPTORS = 65536,
    SIGNALS = 65,
};

struct listener_question {
    int32_t number;  /* a signal; zero: `watched` is new */
    int32_t watched; /* a process */
};

struct listener_answer {
    uint64_t time;
    int64_t sender;
};

/* ---- the listener ---- */

static void listener_keep_descriptors(int line, int signals)
{
#ifdef SYS_close_range
    const unsigned low = (unsigned)(line < signals ? line : signals),
                   high = (unsigned)(line < signals ? signals : line);
    if ((low == 0 || syscall(SYS_close_range, 0, low - 1, 0) == 0) &&
        (high == low + 1 || syscall(SYS_close_range, low + 1, high - 1, 0) == 0) &&
        syscall(SYS_close_range, high + 1, ~0u, 0) == 0)
        return;
#endif
    for (int i = 0; i < MAX_DESCRIPTORS; i++)
        if (i != line && i != signals)
            close(i);
}

/* Replaces the words of the command line, which begin at argv[0]. */
static void listener_rename(void)
{
    static const char name[] = "signals";
    char text[4096];
    size_t length = 0;
    prctl(PR_SET_NAME, name);
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && (got = read(fd, text, sizeof text)) > 0; length += (size_t)got)
        if (!length && strncmp(text, program_invocation_name, (size_t)got) != 0)
            return;
    if (length < sizeof name)
        return;
    memset(program_invocation_name, 0, length);
    memcpy(program_invocation_name, name, sizeof name);
}

static bool listener_sees_stopped(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *end = strrchr(text, ')'); /* a name may contain parentheses */
    return end && end[1] && (end[2] == 'T' || end[2] == 't');
}

/* A question comes after the signals that were sent before it. */
static void __attribute__((noreturn)) listener_run(int line, int signals, pid_t parent)
{
    struct listener_answer heard[SIGNALS] = { { 0 } };
    pid_t watched = 0;
    for (;;) {
        struct pollfd events[] = { { .fd = line, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
        if (poll(events, 2, watched ? WATCH_INTERVAL : -1) < 0 && errno != EINTR)
            _exit(STATUS_OWN_FAILURE);
        struct signalfd_siginfo info;
        while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
            if (info.ssi_signo < SIGNALS)
                heard[info.ssi_signo] = (struct listener_answer){ clock_monotonic(), (int64_t)info.ssi_pid };
        struct listener_question q;
        const ssize_t got = recv(line, &q, sizeof q, MSG_DONTWAIT);
        if (got == 0)
            _exit(0);
        if (got == (ssize_t)sizeof q && q.number > 0 && q.number < SIGNALS)
            (void)!write(line, &heard[q.number], sizeof *heard);
        else if (got == (ssize_t)sizeof q)
            watched = q.watched;
        if (watched && !listener_sees_stopped(watched) && listener_sees_stopped(parent))
            kill(parent, SIGCONT);
    }
}

static void __attribute__((noreturn)) listener_begin(int line, pid_t parent)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    const int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(STATUS_OWN_FAILURE);
    listener_rename();
    listener_keep_descriptors(line, signals);
    listener_run(line, signals, parent);
}

/* ---- dwell ---- */

void group_listener_start(struct group_listener *l)
{
    int ends[2];
    *l = (struct group_listener){ -1, -1 };
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    l->pid = fork();
    if (l->pid == 0) {
        close(ends[0]);
        listener_begin(ends[1], parent);
    }
    close(ends[1]);
    if (l->pid < 0) {
        close(ends[0]);
        return;
    }
    l->line = ends[0];
    group_listener_heard(l, SIGHUP, 0); /* it answers when it has its own name */
}

void group_listener_stop(struct group_listener *l)
{
    if (l->pid < 0)
        return;
    close(l->line);
    kill(l->pid, SIGKILL);
    waitpid(l->pid, NULL, 0);
    l->pid = l->line = -1;
}

static bool group_listener_ask(const struct group_listener *l, const struct listener_question *q)
{
    return l->pid > 0 && send(l->line, q, sizeof *q, MSG_NOSIGNAL) == (ssize_t)sizeof *q;
}

/* The kernel sends a signal to a group's processes under a lock, which setpgid needs as well. So when that returns, all
 * of them have it. */
uint64_t group_listener_heard(const struct group_listener *l, int number, pid_t sender)
{
    struct listener_answer answer;
    struct pollfd event = { .fd = l->line, .events = POLLIN };
    (void)!setpgid(0, getpgrp());
    while (l->pid > 0 && recv(l->line, &answer, sizeof answer, MSG_DONTWAIT) > 0)
        continue; /* to a question that was given up */
    if (!group_listener_ask(l, &(struct listener_question){ .number = number }) ||
        poll(&event, 1, LISTENER_PATIENCE) <= 0 || recv(l->line, &answer, sizeof answer, 0) != (ssize_t)sizeof answer)
        return 0;
    return answer.sender == (int64_t)sender ? answer.time : 0;
}

void group_listener_watch(const struct group_listener *l, pid_t pid)
{
    group_listener_ask(l, &(struct listener_question){ .watched = (int32_t)pid });
}
