/* The profile of a session that grows: of all that has been read, and of what came since it was looked at before. */
#ifndef DWELL_PROFILE_FOLLOW_H
#define DWELL_PROFILE_FOLLOW_H

#include "profile/profile.h"
#include "trace/growth.h"

struct follow {
    struct growth *growth;
    bool alive; /* the session is still being recorded */
    struct profile *whole;
    /* The part of it since the last look before at which nothing was left to be read; modules, functions, threads and
     * nodes have the same numbers, shortest and longest calls are unknown. NULL: there was no look before. */
    struct profile *recent;
    uint64_t interval;          /* from that look to this one, in nanoseconds */
    struct profile *events;     /* of the events that have been read, without intervals that go on */
    struct profile *base;       /* the whole at that look; */
    uint64_t base_time, looked; /* when that was, and when the last look: CLOCK_MONOTONIC, in nanoseconds */
    bool complete;              /* at the last look nothing was left */
};

/* NULL: the file cannot be read, and *error tells why. */
struct follow *follow_open(const char *path, const char **error);
void follow_close(struct follow *f);

/* Reads on, about so many bytes at most, by `jobs` threads; growth->left tells what is left. NULL, or what is wrong. */
const char *follow_read(struct follow *f, uint64_t most, unsigned jobs);

/* Makes the profiles of what has been read. Calls that go on count up to now, or to the end of their thread. */
void follow_look(struct follow *f);

#endif
