/*
 * Counts the durations of a path's calls, of which short ones have their counters in a list of 512 bytes. The lists of
 * many paths fit in the processor's cache, where the tables of durations.h do not.
 */
#ifndef DWELL_PROFILE_SHORT_DURATIONS_H
#define DWELL_PROFILE_SHORT_DURATIONS_H

#include "profile/durations.h"

enum { SHORT_COUNTERS = 256 }; /* for durations below 4096 ticks */

struct short_durations {
    uint64_t sum; /* as in struct durations */
    uint16_t counts[SHORT_COUNTERS];
};

/* For short_durations_add_call: a call that is long, or whose counter is full. */
void short_durations_add(struct short_durations *s, struct durations **d, uint64_t counter, uint64_t sum);

/* Adds one call: to *d if it is long. */
static inline void short_durations_add_call(struct short_durations *s, struct durations **d, uint64_t ticks,
                                            uint64_t sum)
{
    const uint64_t counter = durations_counter(ticks);
    if (__builtin_expect(counter >= SHORT_COUNTERS || s->counts[counter] == UINT16_MAX, 0)) {
        short_durations_add(s, d, counter, sum);
        return;
    }
    s->counts[counter]++;
    s->sum += sum;
}

/* Moves all calls to *d. */
void short_durations_move(struct short_durations *s, struct durations **d);

#endif
