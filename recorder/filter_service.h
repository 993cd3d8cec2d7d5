/* Answers the questions of recorded processes for the filters of modules that they have loaded, for the slots in them
 * that lead to functions of libraries, and for levels that `dwell control` has set before. A thread of `dwell record`
 * does it while the program runs. */
#ifndef DWELL_RECORDER_FILTER_SERVICE_H
#define DWELL_RECORDER_FILTER_SERVICE_H

#include <pthread.h>

#include "recorder/filters.h"
#include "session.h"

struct filter_service {
    struct filters *filters;
    const struct session *session;
    int fd;
    uint32_t answered, stop;
    bool running;
    pthread_t thread;
};

/* Starts the thread. Only the thread uses the filters then. */
void filter_service_start(struct filter_service *s, struct filters *filters, const struct session *session, int fd);

/* Returns the module's path, or that below the process' own root. Returns NULL if neither is the module. The caller
 * frees it. */
char *filter_service_find_file(const struct filter_loaded *module, uint32_t pid);

/* Answers the last questions and ends the thread. */
void filter_service_stop(struct filter_service *s);

#endif
