/* Sums of samples that stand for different times, and how certain a part of them is. */
#ifndef DWELL_PROFILE_SAMPLE_SUMS_H
#define DWELL_PROFILE_SAMPLE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/wide.h"

struct sample_sum {
    uint64_t samples;
    uint64_t time;   /* for which they stand, in any unit */
    uint128 squares; /* the sum of the squares of the time of each sample: whole, so that no order matters */
    bool is_uneven;  /* they stand for different times */
};

/* Adds samples, at least one, that stand for `time` together: for about the same each. */
void sample_sum_add(struct sample_sum *sum, uint64_t samples, uint64_t time);

/* Adds the samples of another sum. */
void sample_sum_join(struct sample_sum *sum, const struct sample_sum *other);

/* The part of the ticks that a part of the samples stands for. Zero if there are no samples. */
uint64_t sample_sum_divide(uint64_t ticks, const struct sample_sum *part, const struct sample_sum *all);

/* The half width of the 95 % interval of that share. `part` is a part of `all`, which has at least one sample. */
double sample_sum_half_width(const struct sample_sum *part, const struct sample_sum *all);

/* The same if all samples stand for the same time, and `count` of `all` are in the part. */
double sampling_half_width(uint64_t count, uint64_t all);

#endif
