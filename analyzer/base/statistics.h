/* Tests whether the means of measurements differ by more than chance. */
#ifndef DWELL_BASE_STATISTICS_H
#define DWELL_BASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
    size_t count;
    double mean;
    double variance; /* divided by count - 1; zero if there are fewer than two values */
};

struct sample sample_of(const double *values, size_t count);

/* The same for times, which are exact to one unit only, although a few measurements can agree by chance. */
struct sample sample_of_times(const double *values, size_t count);

/* Welch's t-test, two-sided: the probability of means at least that far apart if only chance separates them. NAN if a
 * side has fewer than two values. */
double welch_test(const struct sample *x, const struct sample *y);

/* The two-sided probability of Student's t distribution. */
double student_two_sided(double t, double degrees);

/* The two-sided probability that `of_x` and `of_y` things, of which x and y have a property, differ so much in its
 * share if they were drawn from one heap: the hypergeometric distribution. */
double share_test(uint64_t x, uint64_t of_x, uint64_t y, uint64_t of_y);

/* Adjusts the probabilities of many tests in place, by Benjamini and Hochberg. Among the tests with an adjusted value
 * of at most q, the expected share of false findings is at most q. NANs stay and do not count as tests. */
void adjust_for_many(double *probabilities, size_t count);

/* Whether a change with this adjusted probability is more than chance. Of those that are found so, 5 % may be false. */
bool is_significant(double probability);

#endif
