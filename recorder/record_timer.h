/* Ends a recording after a time, while the program goes on. */
#ifndef DWELL_RECORDER_RECORD_TIMER_H
#define DWELL_RECORDER_RECORD_TIMER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct dwell_file_header;

struct record_timer {
    struct dwell_file_header *header;
    int fd; /* the session, owned by the caller */
    uint64_t ns;
    const char *program;
    bool quiet, running, stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

/* From now on, `ns` nanoseconds are recorded: then all processes of the session are paused, and new ones begin so. Does
 * nothing if `ns` is zero. */
void record_timer_start(struct record_timer *t, struct dwell_file_header *header, int fd, uint64_t ns,
                        const char *program, bool quiet);

/* The program has ended. */
void record_timer_stop(struct record_timer *t);

#endif
