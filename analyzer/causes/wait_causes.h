/* The waits of a session with what ended them: the thread that held the lock, or the one whose act on the object, or
 * whose end, came last before the waiting thread went on. */
#ifndef DWELL_CAUSES_WAIT_CAUSES_H
#define DWELL_CAUSES_WAIT_CAUSES_H

#include "analysis/analysis.h"
#include "profile/waits.h"

enum wait_cause { CAUSE_NONE, CAUSE_HOLDER, CAUSE_WAKER };

struct caused_wait {
    struct profile_wait wait; /* its node is one of `waiting` */
    uint64_t ticks;           /* blocked, as reports show it */
    uint64_t count;           /* number of waits; in mode profile there may be several */
    uint64_t longest;         /* the longest of the waits, in ticks */
    bool rest;                /* mode profile: waits of a thread that have no rows of their own */
    enum wait_cause cause;
    uint32_t thread; /* serial number of the thread that is the cause; zero if there is none */
    uint32_t node;   /* of `acting`: the holder's call when the wait began, or the waker's; PROFILE_NONE if unknown */
    uint32_t waker;  /* serial number of the thread that ended the wait, which may be another one than the holder; */
    uint64_t woken;  /* and when it did, within the wait. Both are zero if unknown */
    uint32_t act;    /* of `acting`: the waker's call. PROFILE_NONE if it ended, or if its act is not recorded */
    uint64_t act_begin, act_end; /* the interval of this act, in ticks */
};

/* The creation of a thread, or of a process with its first thread. */
struct thread_origin {
    uint32_t thread, creator; /* serial numbers of threads */
    uint64_t time;
};

struct wait_causes {
    const struct profile *waiting, *acting; /* `acting` is NULL if causes were not recorded */
    const struct function_name *waiting_names, *acting_names;
    bool counted;  /* the numbers of waits are known; otherwise, each entry has all waits of its call path */
    uint64_t rest; /* number of waits that have no rows of their own, in all threads */
    struct caused_wait *list;
    size_t count;
    size_t all_count; /* of a whole session, further waits follow that only critical paths have: outside of functions,
                       * and those of the runtime */
    struct thread_origin *origins; /* of a whole session; sorted by thread */
    size_t origin_count;
    struct profile *own_waiting, *own_acting; /* what wait_causes_drop frees */
    struct function_name *own_waiting_names, *own_acting_names;
};

/* Reads the session again. The analysis must outlive the result. */
struct wait_causes wait_causes_find(const struct analysis *analysis);

/* All waits of the session, and only what ended them, as critical paths need it: no holders and no acting nodes. It
 * takes one pass less. Without recorded causes, no waker is known. */
struct wait_causes wait_causes_find_wakers(const struct analysis *analysis);

/* Whether the node is a call of a selected root (analysis_narrow), or below one. */
bool causes_is_below_root(const struct analysis *analysis, const struct profile *p, uint32_t node);

/* Leaves only the call paths that the waits name, without amounts and names of functions. What only critical paths have
 * is left out. */
void wait_causes_shrink(struct wait_causes *c);

void wait_causes_drop(struct wait_causes *c);

#endif
