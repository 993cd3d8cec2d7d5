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
    uint64_t interval; /* between the readings of these looks, in nanoseconds */
    /* The same since the oldest such look of the last FOLLOW_WINDOW, or since the last one if that is older. */
    struct profile *window;
    struct profile *events;    /* of the events read so far, without the intervals that are still open */
    struct follow_look *looks; /* at which everything had been read, within the window, the oldest first */
    size_t look_count, look_room;
    uint64_t reading; /* when the last reading began: ticks of the session */
    uint64_t until;   /* the reading of the last look at which everything had been read; zero if there was none */
    uint64_t read_at, looked; /* when the readings of this look and of the last one began: CLOCK_MONOTONIC */
    bool complete;            /* everything had been read at the last look */
};

#define FOLLOW_WINDOW UINT64_C(3000000000) /* ns over which a steady program has steady shares */

struct follow_look {
    struct profile *whole;
    uint64_t time; /* CLOCK_MONOTONIC, in nanoseconds */
};

/* Returns NULL and sets *error if the file cannot be read. */
struct follow *follow_open(const char *path, const char **error);
void follow_close(struct follow *f);

/* Reads the next part with `jobs` threads, at most about `most` bytes; growth->left is what remains. Returns NULL, or
 * an error message. */
const char *follow_read(struct follow *f, uint64_t most, unsigned jobs);

/* Makes the profiles of what has been read. Open calls count up to the beginning of the reading, or to the end of their
 * thread: all events before that have been read. So no time of `whole` is ever taken back. */
void follow_look(struct follow *f);

#endif
