/* The range of time in which a session has events to show. */
#ifndef DWELL_VIEW_TIMELINE_RANGE_H
#define DWELL_VIEW_TIMELINE_RANGE_H

#include "analysis/analysis.h"

struct timeline_range {
    uint64_t begin, end; /* ticks; not before the session's start */
    bool cut;            /* the session continues after the range */
};

/* Returns false if the session holds no single events. */
bool timeline_range_find(struct timeline_range *range, const struct analysis *session);

#endif
