/*
 * The thread takes its signals one by one while it waits. A signal from a terminal, or from one who ends a whole
 * service, goes to the program as well. Then it is not passed on: for many servers, a second SIGTERM means to end at
 * once.
 */
#include "recorder/signal_relay.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "clock.h"

enum { TOGETHER = 50 /* milliseconds within which a service's processes get one signal */ };

static const int ending_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static const int stopping_signals[] = { SIGTSTP, SIGTTIN, SIGTTOU };

static bool relay_contains(const int *list, size_t count, int number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

#define IS_ONE_OF(list, number) relay_contains(list, sizeof(list) / sizeof *(list), number)

/* All signals that dwell can take. SIGBUS is its own: see session_guard.c. */
static sigset_t relay_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    return all;
}

void signal_relay_begin(struct signal_relay *r)
{
    const sigset_t all = relay_signals();
    *r = (struct signal_relay){ .ending = 0 };
    sigprocmask(SIG_SETMASK, &all, &r->mask);
    /* SIGCHLD may be ignored since dwell's start. Then the kernel would forget the program's status. */
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigemptyset(&usual.sa_mask);
    sigaction(SIGCHLD, &usual, &r->child);
    group_listener_start(&r->group);
}

void signal_relay_leave(const struct signal_relay *r)
{
    sigaction(SIGCHLD, &r->child, NULL);
    sigprocmask(SIG_SETMASK, &r->mask, NULL);
}

/* ---- passing on ---- */

static void relay_sleep(unsigned milliseconds)
{
    nanosleep(&(struct timespec){ .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000 }, NULL);
}

/* Whether the listener has heard the signal. Several ones of the same number in short time may have become one. */
static bool relay_was_heard(struct signal_relay *r, const siginfo_t *info)
{
    uint64_t *last = &r->heard[info->si_signo];
    const uint64_t now = clock_monotonic(), heard = group_listener_heard(&r->group, info->si_signo, info->si_pid);
    const bool again = *last && now - *last < TOGETHER * 1000000ull;
    const bool fresh = heard > *last;
    if (fresh)
        *last = heard;
    return fresh || again;
}

/* Whether the program had the signal without dwell. A service manager sends it to one process after the other. */
static bool relay_has_reached(struct signal_relay *r, pid_t pid, const siginfo_t *info)
{
    if (getpgid(pid) != getpgrp())
        return false;
    if (r->group.pid < 0)
        return info->si_code == SI_KERNEL; /* a terminal's */
    if (relay_was_heard(r, info))
        return true;
    if (!IS_ONE_OF(ending_signals, info->si_signo))
        return false;
    relay_sleep(TOGETHER);
    return relay_was_heard(r, info);
}

/* Whether the signal is about dwell's own process, or what the program tells its parent. */
static bool relay_is_own(const struct signal_relay *r, pid_t pid, const siginfo_t *info)
{
    const bool sent = info->si_code <= 0, limit = info->si_signo == SIGXCPU || info->si_signo == SIGXFSZ;
    if (info->si_signo == SIGCHLD || (limit && !sent))
        return true;
    return sent && (info->si_pid == getpid() || info->si_pid == r->group.pid || (pid && info->si_pid == pid));
}

/* Whether a child has ended, and its end is not taken yet: a signal to it has no effect. */
static bool relay_has_ended(pid_t pid)
{
    siginfo_t end = { .si_pid = 0 };
    return waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
}

/* What nobody is there to have is kept for a process that is found later. */
static void relay_pass_on(struct signal_relay *r, pid_t pid, const siginfo_t *info)
{
    if (relay_is_own(r, pid, info))
        return;
    const bool had = pid > 0 && relay_has_reached(r, pid, info);
    const bool late = !had && (pid <= 0 || relay_has_ended(pid));
    if (IS_ONE_OF(ending_signals, info->si_signo)) {
        r->ending = info->si_signo;
        r->late = *info;
        r->is_late = late;
    }
    if (had || late)
        return;
    if (info->si_code == SI_QUEUE)
        sigqueue(pid, info->si_signo, info->si_value);
    else
        kill(pid, info->si_signo);
}

/* ---- stops ---- */

/* Stops as the child did, so that a shell sees its job stopped. Who continues only the child continues dwell as well:
 * the listener sees to that. Without it, dwell does not stop. */
static void relay_stop(struct signal_relay *r, pid_t pid, int number)
{
    sigset_t stops;
    struct sigaction usual = { .sa_handler = SIG_DFL }, before;
    if (r->group.pid < 0)
        return;
    group_listener_heard(&r->group, number, 0); /* if the group was sent the signal, it is here by now */
    sigemptyset(&stops);
    for (size_t i = 0; i < sizeof stopping_signals / sizeof *stopping_signals; i++)
        sigaddset(&stops, stopping_signals[i]);
    while (sigtimedwait(&stops, NULL, &(struct timespec){ 0 }) > 0)
        continue; /* or dwell would stop twice */
    group_listener_watch(&r->group, pid);
    if (number != SIGSTOP) {
        sigemptyset(&usual.sa_mask);
        sigaction(number, &usual, &before);
        sigprocmask(SIG_UNBLOCK, &stops, NULL);
    }
    raise(number);
    if (number != SIGSTOP) {
        sigprocmask(SIG_BLOCK, &stops, NULL);
        sigaction(number, &before, NULL);
    }
    group_listener_watch(&r->group, 0);
}

/* ---- waiting ---- */

/* As waitpid. A program that was killed has not recorded its CPU time. */
static pid_t relay_take_end(struct signal_relay *r, pid_t pid, int *status, int options)
{
    siginfo_t info = { .si_pid = 0 };
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | options) < 0)
        return -1;
    if (info.si_pid == 0)
        return 0;
    if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
        r->killed = zombie_read_cpu((uint32_t)pid, &r->cpu);
    return waitpid(pid, status, options);
}

pid_t signal_relay_wait(struct signal_relay *r, pid_t pid, int *status)
{
    const sigset_t all = relay_signals();
    struct interruptions interruptions = { 0 };
    for (int options = WUNTRACED | WNOHANG;;) {
        siginfo_t info;
        const pid_t waited = relay_take_end(r, pid, status, options);
        if (waited < 0 && !interrupted(&interruptions))
            return waited;
        if (waited > 0 && !WIFSTOPPED(*status))
            return waited;
        if (waited > 0)
            relay_stop(r, pid, WSTOPSIG(*status));
        else if (waited == 0 && sigwaitinfo(&all, &info) > 0)
            relay_pass_on(r, pid, &info);
        else if (waited == 0 && !interrupted(&interruptions))
            options = 0; /* signals cannot be taken here */
    }
}

void signal_relay_serve(struct signal_relay *r, pid_t pid, unsigned milliseconds)
{
    const sigset_t all = relay_signals();
    const uint64_t end = clock_monotonic() + milliseconds * 1000000ull;
    if (pid > 0 && r->is_late)
        relay_pass_on(r, pid, &r->late);
    for (uint64_t now; (now = clock_monotonic()) < end;) {
        siginfo_t info;
        const struct timespec patience = { .tv_sec = (time_t)((end - now) / 1000000000),
                                           .tv_nsec = (long)((end - now) % 1000000000) };
        if (sigtimedwait(&all, &info, &patience) > 0)
            relay_pass_on(r, pid, &info);
        else if (errno != EAGAIN && errno != EINTR)
            relay_sleep(milliseconds);
    }
}

void signal_relay_end(struct signal_relay *r)
{
    const sigset_t all = relay_signals();
    while (sigtimedwait(&all, NULL, &(struct timespec){ 0 }) > 0)
        continue;
    group_listener_stop(&r->group);
    signal_relay_leave(r);
}
