/* How long single calls took, in a comparison: percentiles of completed calls, elapsed inclusive. */
#ifndef DWELL_COMPARISON_DIFF_PERCENTILES_H
#define DWELL_COMPARISON_DIFF_PERCENTILES_H

#include "base/statistics.h"
#include "comparison/diff.h"

/* Keeps the durations of a run by key, and fills the percentiles of its rows. `keys` are by function or node of the
 * profile, as the comparison is by. */
void diff_percentiles_fill(const struct diff *d, struct diff_run *run, const struct profile *named,
                           const uint32_t *keys, uint64_t ticks_per_second);
void diff_percentiles_drop(struct diff_run *run);

bool diff_percentiles_has(const struct diff_run *run, uint32_t key);

/* Adds to the variance what the width of a counter hides, however many runs have their percentile in it. */
void diff_percentiles_blur(struct sample *sample);

/* The probability that chance lets a percentile differ so much, by the order of the single calls of all runs. */
double diff_percentiles_test(const struct diff *d, const struct diff_row *row, enum diff_value value);

/* What the change is if it was tested that way. */
enum diff_judged diff_percentiles_judge(const struct diff_pair *pair);

#endif
