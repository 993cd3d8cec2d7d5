/* A thread of `dwell record` that finds the names of functions while the program runs. */
#ifndef DWELL_RECORDER_NAME_SERVICE_H
#define DWELL_RECORDER_NAME_SERVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/module_names.h"

struct name_service {
    struct module_names *names;
    pthread_t thread;
    bool running;
    uint32_t stop;
};

/* Begins to find the names in all files that are kept (kept_files.h). Without a thread, none are found ahead. */
void name_service_start(struct name_service *s);

/* Ends that, once in a recording. Until the caller frees service->names, it has what was found. */
void name_service_stop(struct name_service *s);

#endif
