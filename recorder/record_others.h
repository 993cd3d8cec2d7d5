/* The recorded processes that outlive the program of `dwell record`, such as daemons. */
#ifndef DWELL_RECORDER_RECORD_OTHERS_H
#define DWELL_RECORDER_RECORD_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "recorder/keep_handing.h"
#include "recorder/process_watch.h"
#include "recorder/signal_relay.h"

struct record_others {
    pid_t *pids; /* the oldest process first */
    size_t count;
};

/* For record_others_wait, before the program begins: orphans become children of dwell, which learns how they end. */
void record_others_adopt(void);

/* Waits until no process is recorded any more. Signals are passed on to the oldest one. */
void record_others_wait(struct signal_relay *relay, struct process_watch *watch, struct keep_handing *handing, int fd);

/* Returns those that live. The caller drops them. */
struct record_others record_others_find(struct process_watch *watch);
void record_others_drop(struct record_others *o);

/* Says so if any of them is still recorded into the session. */
void record_others_say(const struct record_others *o, int fd);

#endif
