/*
 * Attributes samples to the call trees of mode profile. It is unknown which calls were open at the time of a sample. So
 * its stack is followed from the innermost function outwards, up to one whose calls were timed then. The functions
 * below become paths of one of its nodes: the times of all its paths are divided together (sampling.h).
 */
#ifndef DWELL_PROFILE_SAMPLED_TREES_H
#define DWELL_PROFILE_SAMPLED_TREES_H

#include "profile/profile.h"
#include "profile/session_samples.h"

/* Adds the samples of all threads of the profile, which has nothing but call trees. */
void sampled_trees_add(struct profile *trees, const struct session_file *file, const struct session_samples *samples);

#endif
