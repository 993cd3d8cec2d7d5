/*
 * How numbers are spread: count, sum, least, greatest and the sum of squares exactly; percentiles exactly while there
 * are few different numbers, and within half a percent after that, in memory that does not grow with the count. What
 * it tells does not depend on the order in which the numbers came.
 */
#ifndef DWELL_BASE_HISTOGRAM_H
#define DWELL_BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wide.h"

struct histogram_step {
    uint64_t value, count;
};

struct histogram {
    uint64_t count, least, greatest;
    uint128 sum;
    uint128 squares;              /* the low 128 bits of the sum of squares */
    uint64_t squares_above;       /* those above */
    struct histogram_step *steps; /* by value */
    size_t step_count, step_room;
    bool rounded; /* the steps' values stand for ranges */
};

/* All zero is an empty one. */
void histogram_drop(struct histogram *h);

void histogram_add(struct histogram *h, uint64_t value, uint64_t times);

/* The least number that at least `percent` of a hundred of them do not exceed; zero if there are none. */
uint64_t histogram_percentile(const struct histogram *h, double percent);

double histogram_mean(const struct histogram *h);

/* The sum of the squared distances from the mean. */
double histogram_deviation_squares(const struct histogram *h);

#endif
