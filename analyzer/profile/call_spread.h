/* The distribution of a time of single calls. All zero is an empty one. */
#ifndef DWELL_PROFILE_CALL_SPREAD_H
#define DWELL_PROFILE_CALL_SPREAD_H

#include "base/histogram.h"
#include "base/wide.h"
#include "profile/path_probes.h"

struct call_spread {
    struct histogram ticks; /* each time in whole ticks */
    int128 sum;             /* in 1/256 ticks */
};

static inline void call_spread_add(struct call_spread *s, uint64_t amount)
{
    histogram_add(&s->ticks, call_ticks(amount), 1);
    s->sum += (int64_t)amount;
}

/* In ticks: the sum divided by the number of calls, and not below zero. */
static inline double call_spread_mean(const struct call_spread *s)
{
    const double sum = (double)s->sum / DWELL_PROBE_FRACTION;
    return s->ticks.count && sum > 0 ? sum / (double)s->ticks.count : 0;
}

static inline void call_spread_drop(struct call_spread *s)
{
    histogram_drop(&s->ticks);
    s->sum = 0;
}

#endif
