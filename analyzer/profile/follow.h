/* The profile of a growing session: of everything read so far, and of the part since the previous look. */
#ifndef DWELL_PROFILE_FOLLOW_H
#define DWELL_PROFILE_FOLLOW_H

#include "profile/profile.h"
#include "trace/growth.h"

struct follow {
    struct growth *growth;
    bool alive; /* the session is still being recorded */
    struct profile *whole;
    /* The part of `whole` since the last look at which everything had been read. Modules, functions, threads and nodes
     * have the same numbers as in `whole`. Shortest and longest calls are unknown. NULL if there was no such look. */
    struct profile *recent;
    uint64_t interval;          /* from that look to this one, in nanoseconds */
    struct profile *events;     /* of the events read so far, without the intervals that are still open */
    struct profile *base;       /* `whole` at that look */
    uint64_t base_time, looked; /* times of that look and of the last one: CLOCK_MONOTONIC, in nanoseconds */
    bool complete;              /* everything had been read at the last look */
};

/* Returns NULL and sets *error if the file cannot be read. */
struct follow *follow_open(const char *path, const char **error);
void follow_close(struct follow *f);

/* Reads the next part with `jobs` threads, at most about `most` bytes; growth->left is what remains. Returns NULL, or
 * an error message. */
const char *follow_read(struct follow *f, uint64_t most, unsigned jobs);

/* Makes the profiles of what has been read. Open calls count up to now, or to the end of their thread. */
void follow_look(struct follow *f);

#endif
