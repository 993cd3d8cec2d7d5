/* Watches the recorded processes, to record the ends of those that cannot do so themselves. */
#ifndef DWELL_RECORDER_PROCESS_WATCH_H
#define DWELL_RECORDER_PROCESS_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/gone_processes.h"
#include "recorder/sampler.h"
#include "session.h"
#include "trace/session_finish.h"

struct watched_process;

struct process_watch {
    const struct session *session;
    int fd;                     /* the session, owned by the caller */
    struct sampler *sampler;    /* owned by the caller */
    struct finish_writer *ends; /* under the lock until process_watch_stop */
    bool running, settled;
    pthread_t newcomers, leavers; /* the threads */
    pthread_mutex_t lock;
    uint32_t stop;
    int events;       /* epoll: a pidfd of each watched process, and `wake` */
    int wake;         /* eventfd */
    uint64_t visited; /* offset of the latest control chunk that was visited: the list is read up to there */
    char *file;       /* the session's device and inode as /proc/PID/maps has them; NULL: PIDs there are not ours */
    uint64_t start;   /* of dwell, in clock ticks since boot */
    struct watched_process *list;
    size_t count, room;
    size_t polled; /* processes without a pidfd */
    unsigned polls;
    struct gone_processes gone; /* where only windows are kept */
};

/* Nanoseconds of CPU time, by the kernel's account of a process and by its clock. */
struct zombie_cpu {
    uint64_t usage, clock;
};

/* Reads those of a process that has ended and was not waited for. False if there is no such process. Needs no memory.
 */
bool zombie_read_cpu(uint32_t pid, struct zombie_cpu *cpu);

/* Begins to watch all processes of the session. The sampler is wanted when there is one. */
void process_watch_start(struct process_watch *w, const struct session *session, int fd, struct sampler *sampler);

/* All processes that have begun until now are watched when it returns, and no later ones. */
void process_watch_settle(struct process_watch *w);

/* Writes the PIDs of the watched processes that live into an array, the oldest first, and returns their number. The
 * caller frees the array. */
size_t process_watch_living(struct process_watch *w, pid_t **pids);

/* A process has ended, with this wait status: a child of dwell, which is to be reaped. */
void process_watch_ended(struct process_watch *w, pid_t pid, int status);

/* Ends that. w->ends stays open; the caller closes it. */
void process_watch_stop(struct process_watch *w);

#endif
