/* What may be said of a few measurements: whether two means differ by more than chance. */
#ifndef DWELL_BASE_STATISTICS_H
#define DWELL_BASE_STATISTICS_H

#include <stddef.h>

struct sample {
    size_t count;
    double mean;
    double variance; /* by count - 1; zero where there are fewer than two values */
};

struct sample sample_of(const double *values, size_t count);

/* Welch's t-test, two-sided: how probable means that far apart, or farther, would be if nothing but chance parted them.
 * NAN where a side has fewer than two values. */
double welch_test(const struct sample *x, const struct sample *y);

/* The two-sided probability of Student's t distribution. */
double student_two_sided(double t, double degrees);

/* Adjusts the probabilities of many tests in place, by Benjamini and Hochberg: of those that are then at most q, the
 * expected share of false findings is at most q. NANs are no tests, and stay. */
void adjust_for_many(double *probabilities, size_t count);

#endif
