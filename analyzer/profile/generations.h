/*
 * The times at which a process' module map changes so that an address can mean another function. Between two such
 * times, in one generation, each address needs only one look-up.
 */
#ifndef DWELL_PROFILE_GENERATIONS_H
#define DWELL_PROFILE_GENERATIONS_H

#include "trace/session_file.h"

struct generations {
    uint32_t current;           /* the generation that generations_find found */
    uint64_t key;               /* of that generation: see generations_address */
    uint64_t begin_at, next_at; /* when the current one begins, and when the next one does */
    const uint64_t *changes;    /* of the process, ascending */
    size_t count;
};

/* Finds the generations of a process. NULL is a process that the session does not know: it has one. */
void generations_begin(struct generations *g, const struct trace_process *process);

/* Makes the generation at `time` the current one. */
void generations_find(struct generations *g, uint64_t time);

/* A number for the address in the current generation. Addresses of user space leave the highest 16 bits free. So
 * numbers of two of them are equal only if the generations are 65536 apart or more, and then only by chance. */
static inline uint64_t generations_address(const struct generations *g, uint64_t address)
{
    return address ^ g->key;
}

#endif
