/* A thread of `dwell record` that gives the space of ended processes to others, where only windows are kept. */
#ifndef DWELL_RECORDER_KEEP_REUSE_H
#define DWELL_RECORDER_KEEP_REUSE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/keep_reclaim.h"

struct keep_reuse {
    struct keep_reclaim reclaim;
    pthread_t thread;
    bool running;
    uint32_t stop; /* a futex */
};

/* Does nothing if the session keeps no windows. */
void keep_reuse_start(struct keep_reuse *r, const struct session *session, int fd, const char *path,
                      struct process_watch *watch);

/* Ends the thread. What is offered is taken back. */
void keep_reuse_stop(struct keep_reuse *r);

#endif
