/* The buckets of histograms of durations. Each begins at 0, 1, 2, 5, 10, 20, 50 and so on. */
#ifndef DWELL_BASE_DURATION_BUCKETS_H
#define DWELL_BASE_DURATION_BUCKETS_H

#include <stdint.h>

enum { DURATION_BUCKETS = 58 };

uint64_t duration_bucket_begin(unsigned bucket);

/* The bucket that contains the duration. The last one has no end. */
unsigned duration_bucket_of(uint64_t ns);

#endif
