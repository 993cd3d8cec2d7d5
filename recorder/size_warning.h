/* Warns while a program is recorded that its session has become large. A thread waits until a recorded process wakes
 * it for that. */
#ifndef DWELL_RECORDER_SIZE_WARNING_H
#define DWELL_RECORDER_SIZE_WARNING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dwell/format.h"

struct size_warning {
    struct dwell_file_header *header;
    const char *shown; /* the session's name */
    bool running;
    pthread_t thread;
};

#define SIZE_WARNING_USUAL (UINT64_C(4) << 30)

/* Warns at so many bytes; zero: never. */
void size_warning_start(struct size_warning *w, struct dwell_file_header *header, const char *shown, uint64_t size);
void size_warning_stop(struct size_warning *w);

#endif
