/*
 * Divides the measured time of call paths among them and the functions below them that were sampled: docs/time-model.md
 * describes how.
 */
#ifndef DWELL_PROFILE_SAMPLING_H
#define DWELL_PROFILE_SAMPLING_H

#include <stdbool.h>

#include "profile/profile.h"
#include "trace/session_file.h"

/* Subtracts the time that samples took from the CPU time of all paths, by the cost in the header of the recording. A
 * thread is sampled once in each period of its CPU time, so a path's part is known by the mean period. That is the one
 * of its own samples if there are 30, else of its thread's, or of the header if the thread has none. It is the same
 * part of application time and of flagged time, each rounded down. Does nothing if the cost is unknown. */
void sampling_subtract_cost(struct profile *p, const struct dwell_file_header *recorded);

/* Divides the CPU time of all paths in proportion to their samples. The part of the code that counts calls is
 * subtracted from it, unless it is `raw`. With `by_function`, as in mode profile, all
 * paths of a function are divided together.
 * Call it once, after the time of probes and samples was subtracted. */
void sampling_divide(struct profile *p, const struct session_file *file, bool raw, bool by_function);

/* By function: all its calls are in the session. A sample in such a function is its caller's if it is not open. The
 * caller frees the list. */
bool *sampling_find_timed(const struct profile *p, const struct session_file *file);

/* Subtracts the time that counting calls took in their functions from the estimated times of these functions: the calls
 * of each function on a thread, as often as the cost in the header of the recording. The calls are in `counted`, a
 * profile with the same functions and the same serial numbers of threads. What exceeds the estimates stays in them.
 * Call it after sampling_divide. Does nothing if the cost is unknown. */
void sampling_subtract_counting(struct profile *p, const struct profile *counted,
                                const struct dwell_file_header *recorded);

#endif
