/*
 * The distribution of numbers. Count, sum, minimum, maximum and the sum of squares are exact. Percentiles are exact
 * while there are few different numbers, and then within half a percent. Memory does not grow with the count, and
 * results do not depend on the order of the numbers.
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
    uint128 squares;              /* the lower 128 bits of the sum of squares */
    uint64_t squares_above;       /* the bits above */
    struct histogram_step *steps; /* in the order of values */
    size_t step_count, step_room;
    bool rounded; /* the values of steps stand for ranges */
};

/* The number of different values that are kept exactly. */
enum { HISTOGRAM_EXACT = 256 };

/* The middle of the range for which a number stands if there are more. */
uint64_t histogram_round(uint64_t value);

/* A histogram that is all zero is empty. */
void histogram_drop(struct histogram *h);

void histogram_add(struct histogram *h, uint64_t value, uint64_t times);

/* The smallest number that `percent` percent of the numbers do not exceed; zero if there are no numbers. */
uint64_t histogram_percentile(const struct histogram *h, double percent);

double histogram_mean(const struct histogram *h);

/* The sum of the squares of the distances from the mean. */
double histogram_deviation_squares(const struct histogram *h);

#endif
