/*
 * Divides the measured time of call paths among them and the functions below them that were sampled: docs/time-model.md
 * describes how.
 */
#ifndef DWELL_PROFILE_SAMPLING_H
#define DWELL_PROFILE_SAMPLING_H

#include "profile/profile.h"
#include "trace/session_file.h"

/* Divides the CPU time of all paths in proportion to their samples. The part of the code that counts calls is
 * subtracted from it, unless it is `raw`. With `by_function`, as in mode profile, all
 * paths of a function are divided together.
 * Call it once, after the time of other probes was subtracted. */
void sampling_divide(struct profile *p, const struct session_file *file, bool raw, bool by_function);

/* The half width of the 95 % interval of a share, of which `count` of `all` samples were seen. */
double sampling_half_width(uint64_t count, uint64_t all);

#endif
