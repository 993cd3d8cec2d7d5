/* How many samples a second are taken under an overhead budget. */
#ifndef DWELL_RECORDER_SAMPLE_RATE_H
#define DWELL_RECORDER_SAMPLE_RATE_H

#include <stdint.h>

enum { SAMPLE_USUAL_RATE = 1000, SAMPLE_MAX_RATE = 10000 }; /* a second of CPU time */

/* Nanoseconds of CPU time between two samples: until the program has used SAMPLE_FIRST_TIME, and later. Zero: there
 * are no samples. */
struct sample_periods {
    uint32_t first, later;
};

enum { SAMPLE_FIRST_TIME = 400000000 /* nanoseconds */ };

/* Returns the highest rate, of two digits, at which samples take at most half of the budget. `permille` is the budget:
 * overhead over the program's own time. `stop` is for how many nanoseconds a sample stops its thread, or zero if that
 * is unknown; then the usual rate is returned. A sample is taken to cost three times as much. */
unsigned sample_rate_within(uint32_t permille, uint64_t stop);

/* One rate for the whole run; zero: no samples. */
struct sample_periods sample_periods_of(unsigned rate);

/* The periods under a budget. The later rate is that of sample_rate_within(). The first one is half as high again, as a
 * short run would have too few samples: that is the samples' allowance. There is none if the cost is unknown, or if the
 * rate would be above SAMPLE_MAX_RATE. The periods are as 2 to 3: sums of such weights are small multiples of one time,
 * so that the page divides by them without rounding. */
struct sample_periods sample_periods_within(uint32_t permille, uint64_t stop);

/* Returns the part of the budget that samples leave to the probes, in thousandths: at least 1. */
uint32_t sample_rate_rest(uint32_t permille, uint64_t stop, unsigned rate);

#endif
