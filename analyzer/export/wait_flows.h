/* Flows from the act that ended a wait to the end of the wait, for formats that show single calls. */
#ifndef DWELL_EXPORT_WAIT_FLOWS_H
#define DWELL_EXPORT_WAIT_FLOWS_H

#include "analysis/analysis.h"

/* Moments are nanoseconds since the session's start. They lie within the slices of the act and of the waiting call,
 * before their ends, so that readers find these slices. */
struct wait_flow {
    uint32_t from_process, from_thread, to_process, to_thread; /* serial numbers */
    uint64_t from, to;
    bool ended;       /* the thread that it comes from ended, and has no slice at that moment */
    bool in_function; /* a function was open in the act */
};

struct wait_flows {
    struct wait_flow *list; /* in the order of the ends of the waits */
    size_t count;
};

/* Reads the session again, unless it has no causes of waits. */
struct wait_flows wait_flows_find(const struct analysis *session);
void wait_flows_drop(struct wait_flows *f);

#endif
