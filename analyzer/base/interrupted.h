/* Repeats system calls that signals interrupt, but not for ever: a sandbox or a file system may answer EINTR always. */
#ifndef DWELL_BASE_INTERRUPTED_H
#define DWELL_BASE_INTERRUPTED_H

#include <stdbool.h>
#include <stdint.h>

/* How often a call was interrupted lately. Zeroed at first. */
struct interruptions {
    uint64_t since; /* seconds */
    unsigned count;
};

/* Whether to repeat a call that has failed: errno is EINTR, and was so fewer than 10,000 times within 10 seconds. */
bool interrupted(struct interruptions *i);

#endif
