/* Processes that have ended for certain: no one writes to their chunks any more. */
#ifndef DWELL_RECORDER_GONE_PROCESSES_H
#define DWELL_RECORDER_GONE_PROCESSES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gone_processes {
    pthread_mutex_t lock;
    bool wanted; /* else none is noted */
    uint32_t *serials;
    size_t count, room;
};

void gone_processes_begin(struct gone_processes *g, bool wanted);
void gone_processes_add(struct gone_processes *g, uint32_t serial);

/* Adds those that were noted since the last call to a list that the caller frees. */
void gone_processes_take(struct gone_processes *g, uint32_t **list, size_t *count, size_t *room);

void gone_processes_end(struct gone_processes *g);

#endif
