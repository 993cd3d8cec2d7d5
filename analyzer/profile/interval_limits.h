/* The OS events of an interval, added to the amounts of the call path to which the interval belongs. */
#ifndef DWELL_PROFILE_INTERVAL_LIMITS_H
#define DWELL_PROFILE_INTERVAL_LIMITS_H

#include "profile/profile.h"
#include "trace/decode.h"

/* An interval, and the limits within which it counts: from <= time < to. */
struct interval {
    uint64_t begin, end;
    uint64_t from, to;
};

/* The length of the part between the limits. */
uint64_t interval_length_within(uint64_t from, uint64_t to, uint64_t begin, uint64_t end);

/* Adds the OS events of an interval of that length to a call path. Off-CPU time is limited to the length. */
void interval_add_os(struct profile_node *node, const struct decoded_extras *extras, uint64_t length);
void interval_count_os(struct profile_counts *counts, const struct decoded_extras *extras);

/* The OS events of the part between the limits, without the records themselves. */
struct decoded_extras interval_extras_within(const struct decoded_extras *extras, const struct interval *interval);

/* Adds the part between the limits to the path and to the counts. The parts of adjacent limits add up to the whole. */
void interval_add_os_within(struct profile_node *node, struct profile_counts *counts,
                            const struct decoded_extras *extras, const struct interval *interval);

#endif
