/*
 * How long the completed calls of a call path took: counters that are as wide as a 32nd of the durations that they
 * count. Durations below 64 ticks have a counter each. A percentile is the middle of its counter, so it is at most
 * 1/64, or 1.6 %, from the exact one. That of a single call is exact. Memory depends on how many counters are in use,
 * and not on the number of calls. Adding is associative and commutative.
 */
#ifndef DWELL_PROFILE_DURATIONS_H
#define DWELL_PROFILE_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DURATION_BITS = 5,        /* a counter is one of 32 of its power of two */
    DURATION_COUNT_BITS = 48, /* of a slot: how many calls; above them the number of the counter, plus one */
};

/* No calls are a null pointer. The table is a hash table whose hash is the number of the counter: so neighbours do not
 * collide. */
struct durations {
    uint64_t sum; /* in 1/256 ticks, as in path_probes.h */
    uint32_t used, mask;
    bool estimated; /* what the probes took of each call is an estimate */
    uint64_t slots[];
};

/* The number of the counter of a duration. */
static inline uint64_t durations_counter(uint64_t ticks)
{
    const int bits = 64 - __builtin_clzll(ticks | 1), dropped = bits > DURATION_BITS + 1 ? bits - DURATION_BITS - 1 : 0;
    return ((uint64_t)dropped << DURATION_BITS) + (ticks >> dropped);
}

/* Makes room for the durations of so many calls, if *d has none. It is enough for most. */
void durations_reserve(struct durations **d, uint64_t calls);

/* Adds calls of a duration, whose sum in 1/256 ticks is `sum`. *d can move. */
void durations_add(struct durations **d, uint64_t ticks, uint64_t calls, uint64_t sum);

/* Adds one call, in few steps if its counter is in use. */
static inline void durations_add_call(struct durations **d, uint64_t ticks, uint64_t sum)
{
    const uint64_t counter = durations_counter(ticks);
    struct durations *known = *d;
    if (__builtin_expect(known != NULL, 1)) {
        uint64_t *slot = &known->slots[counter & known->mask];
        if (__builtin_expect(*slot >> DURATION_COUNT_BITS == counter + 1, 1)) {
            ++*slot;
            known->sum += sum;
            return;
        }
    }
    durations_add(d, ticks, 1, sum);
}

/* Adds calls of a counter, whose sum in 1/256 ticks is `sum`, or zero if there are several. False if there is no such
 * counter, or if it cannot have so many. */
bool durations_add_counter(struct durations **d, uint64_t counter, uint64_t calls, uint64_t sum);

/* Has one call, in place of those that *d has. */
void durations_set_call(struct durations **d, uint64_t ticks, uint64_t sum);

void durations_merge(struct durations **into, const struct durations *from);

/* The same, and *from has no calls after that. */
void durations_move(struct durations **into, struct durations **from);

/* The middle of the durations that a counter counts. */
uint64_t durations_middle(uint64_t counter);

/* Leaves the calls that `made` does not have yet, and adds them to it. */
void durations_take_new(struct durations **now, struct durations **made);

/* Brings ticks to nanoseconds. Each counter becomes that of its middle, so a percentile can be off by another 1/64. */
void durations_scale(struct durations **d, uint64_t ticks_per_second);

/* Takes a part of each duration, from 0 to 1. With the same error. */
void durations_shorten(struct durations **d, double part);

/* Takes so many ticks of each duration, or all if it has less. With the same error. */
void durations_lower(struct durations **d, double ticks);

uint64_t durations_calls(const struct durations *d);

/* A counter in use. */
struct durations_counter {
    uint64_t counter, calls;
};

/* Lists the counters in use in ascending order. The caller frees the list. */
struct durations_counter *durations_counters(const struct durations *d, size_t *count);

/* The only call, whose sum is exact; otherwise false. */
bool durations_are_one(const struct durations *d);

/* So many calls took about so long. */
struct durations_step {
    uint64_t ticks, calls;
};

/* Lists the durations in ascending order. The caller frees the list. */
struct durations_step *durations_list(const struct durations *d, size_t *count);

/* Sets ticks[i] to the duration that percents[i] percent of the calls do not exceed, or to zero without calls. The
 * percents ascend. */
void durations_percentiles(const struct durations *d, const double *percents, uint64_t *ticks, size_t count);

#endif
