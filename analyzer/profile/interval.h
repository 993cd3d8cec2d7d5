/* An interval's OS events in ticks, with the parts of them in which the runtime was at work. */
#ifndef DWELL_PROFILE_INTERVAL_H
#define DWELL_PROFILE_INTERVAL_H

#include "base/numbers.h"
#include "trace/decode.h"

struct interval_parts {
    uint64_t flagged, blocked, preempted; /* both off-CPU times are within flagged */
    uint64_t runtime, runtime_flagged;    /* the runtime's, and its part within flagged; never off the CPU */
};

/* Off-CPU times are limited to the interval's length. */
static inline struct interval_parts interval_parts(const struct decoded_extras *extras, uint64_t length)
{
    struct interval_parts p = { .blocked = smaller(extras->blocked, length) };
    p.preempted = smaller(extras->preempted, length - p.blocked);
    p.flagged = larger(decode_flagged(extras, length), p.blocked + p.preempted);
    p.runtime = decode_runtime(extras, length);
    /* The cost of hidden calls is in the rest of an interval that is flagged in part. */
    p.runtime_flagged = less(p.runtime, length - p.flagged);
    return p;
}

#endif
