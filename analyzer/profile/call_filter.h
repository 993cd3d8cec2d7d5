/*
 * Leaves calls out of a call tree that has no events, as trace/filtered_thread.h leaves them out of events. The time of
 * a suppressed call counts for its caller. The time of an ignored call, and of all that it calls, is discarded.
 */
#ifndef DWELL_PROFILE_CALL_FILTER_H
#define DWELL_PROFILE_CALL_FILTER_H

#include "profile/profile.h"
#include "trace/filtered_thread.h"

struct call_filter {
    uint8_t *actions; /* by function: enum call_action */
    size_t count;
    uint32_t depth; /* calls within so many shown calls are suppressed; zero if unlimited */
};

/* The profile without these calls. Modules and functions keep their numbers. Durations of calls with ignored calls are
 * unknown. Exits, OS events and marks are left out. `places` may be NULL. It gets, by node of `p`, the node of the
 * result that has its time, or PROFILE_NONE if it is discarded. The caller frees the result. */
struct profile *call_filter_apply(const struct profile *p, const struct call_filter *f, uint32_t *places);

#endif
