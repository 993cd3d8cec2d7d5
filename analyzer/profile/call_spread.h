/*
 * The distribution of a time of single calls. Numbers are counted in a hash table, so adding one takes few steps. While
 * there are at most 256 different numbers they are exact, and then within half a percent (base/histogram.h).
 */
#ifndef DWELL_PROFILE_CALL_SPREAD_H
#define DWELL_PROFILE_CALL_SPREAD_H

#include "base/histogram.h"
#include "base/wide.h"
#include "profile/path_probes.h"

/* All zero is an empty one. */
struct call_spread {
    uint64_t count, least, greatest; /* ticks */
    int128 sum;                      /* in 1/256 ticks */
    struct histogram_step *slots;    /* by the hash of the value; free if the count is zero */
    size_t used, mask;
    bool rounded;
};

/* Adds a time in 1/256 ticks. */
void call_spread_add(struct call_spread *s, uint64_t amount);

/* Adds all of `from`. */
void call_spread_merge(struct call_spread *into, const struct call_spread *from);

/* In ticks: the sum divided by the number of calls, and not below zero. */
double call_spread_mean(const struct call_spread *s);

/* The times in whole ticks. Its sums are those of the rounded numbers. The caller drops it. */
struct histogram call_spread_histogram(const struct call_spread *s);

void call_spread_drop(struct call_spread *s);

#endif
