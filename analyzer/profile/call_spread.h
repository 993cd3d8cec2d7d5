/*
 * The distribution of a time of single calls. Numbers are counted in a hash table, so adding one takes few steps. If
 * there are many, small ones are counted in an array until the end. While there are at most 256 different numbers they
 * are exact, and then within half a percent (base/histogram.h).
 */
#ifndef DWELL_PROFILE_CALL_SPREAD_H
#define DWELL_PROFILE_CALL_SPREAD_H

#include "base/histogram.h"
#include "base/wide.h"
#include "profile/path_probes.h"

/* Numbers of ticks below this can be counted in the array. */
enum { CALL_SPREAD_SMALL = 2048 };

/* All zero is an empty one. The other members are complete after call_spread_finish. */
struct call_spread {
    int128 sum;                      /* in 1/256 ticks */
    uint16_t *small;                 /* by number of ticks: how often it occurred; NULL at first */
    uint64_t count, least, greatest; /* ticks */
    struct histogram_step *slots;    /* by the hash of the value; free if the count is zero */
    size_t used, mask;
    bool rounded;
};

/* Adds numbers of ticks whose sum in 1/256 ticks is `sum`. */
void call_spread_add_times(struct call_spread *s, uint64_t ticks, uint64_t times, int128 sum);

/* Adds a time in 1/256 ticks. */
static inline void call_spread_add(struct call_spread *s, uint64_t amount)
{
    const uint64_t ticks = call_ticks(amount);
    if (__builtin_expect(!s->small || ticks >= CALL_SPREAD_SMALL, 0)) {
        call_spread_add_times(s, ticks, 1, (int64_t)amount);
        return;
    }
    s->sum += (int64_t)amount;
    if (__builtin_expect(++s->small[ticks] == 0, 0))
        call_spread_add_times(s, ticks, UINT16_MAX + 1, 0);
}

/* After the last addition. */
void call_spread_finish(struct call_spread *s);

/* Adds all of `from`. Finishes both. */
void call_spread_merge(struct call_spread *into, struct call_spread *from);

/* In ticks: the sum divided by the number of calls, and not below zero. */
double call_spread_mean(const struct call_spread *s);

/* The times in whole ticks. Its sums are those of the rounded numbers. The caller drops it. */
struct histogram call_spread_histogram(const struct call_spread *s);

void call_spread_drop(struct call_spread *s);

#endif
