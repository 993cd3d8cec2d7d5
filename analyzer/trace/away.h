/*
 * Calls that are on none of their process' running stacks at the moment: another thread may take them up. When they
 * come back, it is said of them that they were entered so much later as they were away.
 */
#ifndef DWELL_TRACE_AWAY_H
#define DWELL_TRACE_AWAY_H

#include "trace/timeline.h"

struct away_call {
    struct timeline_call call;
    uint64_t age;         /* for how long it was open when it left */
    uint32_t thread;      /* that left it */
    uint32_t next_plus_1; /* in its bucket, or among the free */
};

struct away {
    struct away_call *calls;
    size_t count, room;
    uint32_t *buckets; /* 1 + index of the first; zero: none */
    size_t mask, used;
    uint32_t free_plus_1;
};

void away_put(struct away *away, const struct timeline_call *call, uint64_t time, uint32_t thread);

/* Takes out the one that the frame is at `time`; of several that are alike, that which was put in last. False: there is
 * none. */
bool away_take(struct away *away, const struct dwell_frame *frame, uint64_t time, struct timeline_call *call);

/* The next one after *at (zero at first), in the order in which they were put in where none was taken out; NULL: none.
 */
const struct away_call *away_next(const struct away *away, size_t *at);

void away_free(struct away *away);

#endif
