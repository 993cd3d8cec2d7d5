/*
 * Divides the measured time of call paths among them and the functions below them that were sampled: docs/time-model.md
 * describes how.
 */
#ifndef DWELL_PROFILE_SAMPLING_H
#define DWELL_PROFILE_SAMPLING_H

#include "profile/profile.h"

/* Divides the CPU time of all paths in proportion to their samples. Call it once, after the probes' time was
 * subtracted. */
void sampling_divide(struct profile *p);

/* The half width of the 95 % interval of a share, of which `count` of `all` samples were seen. */
double sampling_half_width(uint64_t count, uint64_t all);

#endif
