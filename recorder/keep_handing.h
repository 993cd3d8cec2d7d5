/* Hands each kept window to the command of --on-keep, as a file. A thread of `dwell record` does it while the program
 * runs. */
#ifndef DWELL_RECORDER_KEEP_HANDING_H
#define DWELL_RECORDER_KEEP_HANDING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session.h"

enum { KEEP_HANDS = 4 /* commands that run at once */ };

struct keep_handing {
    const struct session *session;
    const char *command, *path; /* of the session */
    pthread_t thread;
    bool running;
    uint32_t stop;       /* a futex */
    struct keep_handed { /* windows of the session that were handed over or left out, in order */
        uint32_t process, thread;
        uint64_t exit_time;
    } * done;
    size_t done_count;
    uint64_t handed, skipped; /* `skipped`: with those that made room for later ones before */
    unsigned number;          /* of the last file */
    pthread_mutex_t lock;     /* of the rest */
    struct keep_hand {
        pid_t pid;
        char *file;
    } hands[KEEP_HANDS];
    size_t busy;
    uint64_t failed;
};

/* Without a command, nothing happens. */
void keep_handing_start(struct keep_handing *h, const char *command, const struct session *session, const char *path);

/* Somebody else has waited for this child of dwell, which may be a command. `status` is that of waitpid. */
void keep_handing_ended(struct keep_handing *h, pid_t pid, int status);

/* Ends the thread. */
void keep_handing_stop(struct keep_handing *h);

/* Hands over the windows that are left, and waits for the commands, both for some seconds at most. Says what failed. */
void keep_handing_finish(struct keep_handing *h);

#endif
