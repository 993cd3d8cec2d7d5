/* The waits of a session with what ended them: the thread that held the lock, or the one whose act on the object, or
 * whose end, came last before the waiting thread went on. */
#ifndef DWELL_ANALYSIS_WAIT_CAUSES_H
#define DWELL_ANALYSIS_WAIT_CAUSES_H

#include "analysis/analysis.h"
#include "profile/waits.h"

enum wait_cause { CAUSE_NONE, CAUSE_HOLDER, CAUSE_WAKER };

struct caused_wait {
    struct profile_wait wait; /* its node is one of `waiting` */
    uint64_t ticks;           /* blocked, as reports show it */
    enum wait_cause cause;
    uint32_t thread; /* serial number of the thread that is the cause; zero if there is none */
    uint32_t node;   /* of `acting`: the holder's call when the wait began, or the waker's; PROFILE_NONE if unknown */
};

struct wait_causes {
    const struct profile *waiting, *acting; /* `acting` is NULL if causes were not recorded */
    const struct function_name *waiting_names, *acting_names;
    bool counted; /* each entry is one wait; otherwise, all of its call path */
    struct caused_wait *list;
    size_t count;
    struct profile *own_waiting, *own_acting; /* what wait_causes_drop frees */
    struct function_name *own_waiting_names, *own_acting_names;
};

/* Reads the session again. The analysis must outlive the result. */
struct wait_causes wait_causes_find(const struct analysis *l);
void wait_causes_drop(struct wait_causes *c);

#endif
