/*
 * When a process' module map changes so that an address may mean another function: between two such moments, in one
 * generation, each address is looked up but once.
 */
#ifndef DWELL_PROFILE_GENERATIONS_H
#define DWELL_PROFILE_GENERATIONS_H

#include "trace/session_file.h"

struct generations {
    uint32_t current;           /* of the time that was asked for last */
    uint64_t begin_at, next_at; /* of the current one */
    const struct trace_process *process;
    uint64_t *changes; /* ascending */
    size_t count, room;
};

/* Makes them those of the process; NULL: one that the session does not know. */
void generations_begin(struct generations *g, const struct trace_process *process);

/* Makes the one at `time` the current one. */
void generations_find(struct generations *g, uint64_t time);

void generations_end(struct generations *g);

#endif
