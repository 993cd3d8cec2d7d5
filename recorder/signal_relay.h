/* Signals that are sent to dwell while it waits for a program are the program's: they are passed on. */
#ifndef DWELL_RECORDER_SIGNAL_RELAY_H
#define DWELL_RECORDER_SIGNAL_RELAY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/group_listener.h"
#include "recorder/process_watch.h"

enum { RELAYED_SIGNALS = 65 };

struct signal_relay {
    struct group_listener group;
    sigset_t mask;                   /* before */
    struct sigaction child;          /* the action for SIGCHLD before */
    uint64_t heard[RELAYED_SIGNALS]; /* when the listener heard the last one that was also for the program */
    struct zombie_cpu cpu;           /* of the child that signal_relay_wait has waited for */
    bool killed;                     /* the child was killed, and `cpu` is known */
    siginfo_t late;                  /* a signal that asks to end, which came when nobody was there to have it */
    bool is_late;                    /* there is one, and nobody has had it yet */
    int ending;                      /* the last signal that asks to end (INT, QUIT, TERM, HUP); zero: none has come */
};

/* From here on, all signals but SIGBUS are blocked in this thread. No other thread may take signals. */
void signal_relay_begin(struct signal_relay *r);

/* In a process that was forked since: it has the signals as before. */
void signal_relay_leave(const struct signal_relay *r);

/* Waits for the end of a child, and passes signals on to it that it has not had. If the child stops, so does dwell.
 * Returns what waitpid does. Needs no memory. */
pid_t signal_relay_wait(struct signal_relay *r, pid_t pid, int *status);

/* Passes signals on to a process for that many milliseconds, first the one that came too early for it. Zero for `pid`:
 * to none. */
void signal_relay_serve(struct signal_relay *r, pid_t pid, unsigned milliseconds);

/* Signals have their usual effect again. Those that came too late to be passed on are dropped. */
void signal_relay_end(struct signal_relay *r);

#endif
