/* How much of a critical path is timed sleep: waits that end by the clock. A loop that sleeps until another thread has
 * done something is such a wait, and nothing in the recording ties it to that thread. */
#ifndef DWELL_CAUSES_PATH_SLEEPS_H
#define DWELL_CAUSES_PATH_SLEEPS_H

#include "causes/critical.h"

struct path_sleeps {
    uint64_t ticks;    /* of the path */
    uint32_t caller;   /* the function that slept most of them; PROFILE_NONE if none was open */
    uint32_t function; /* the call by which it slept, such as usleep; PROFILE_NONE without sleeps */
};

/* Whether the wait ended by the clock, as far as is known. */
static inline bool wait_is_timed(const struct caused_wait *c)
{
    return !c->waker && (c->wait.gave_up || c->wait.kind == DWELL_OBJECT_SLEEP || c->wait.kind == DWELL_OBJECT_TIMERFD);
}

/* The path needs only its segments. */
struct path_sleeps path_sleeps_find(const struct analysis *analysis, const struct critical_path *path,
                                    const struct wait_causes *causes);

/* Adds a remark if more than 5 % of the path are sleeps. */
void path_sleeps_remark(struct analysis *analysis, const struct path_sleeps *sleeps, const struct critical_part *part);

#endif
