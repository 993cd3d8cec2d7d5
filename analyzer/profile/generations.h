/*
 * The times at which a process' module map changes so that an address can mean another function. Between two such
 * times, in one generation, each address needs only one look-up.
 */
#ifndef DWELL_PROFILE_GENERATIONS_H
#define DWELL_PROFILE_GENERATIONS_H

#include "trace/session_file.h"

struct generations {
    uint32_t current;           /* the generation that generations_find found */
    uint64_t begin_at, next_at; /* when the current one begins, and when the next one does */
    const uint64_t *changes;    /* of the process, ascending */
    size_t count;
};

/* Finds the generations of a process. NULL is a process that the session does not know: it has one. */
void generations_begin(struct generations *g, const struct trace_process *process);

/* Makes the generation at `time` the current one. */
void generations_find(struct generations *g, uint64_t time);

#endif
