/* Call paths in which each function is open once at most. */
#ifndef DWELL_PROFILE_RECURSION_H
#define DWELL_PROFILE_RECURSION_H

#include "profile/rollup.h"

/* A call of a function that is open already counts for the open one, as does what it calls. Modules, functions and
 * threads have the numbers that they have in the rollup's profile. *deepest, by node: how many calls of its function
 * were open at once, at most; to be freed by the caller. */
struct profile *recursion_fold(const struct rollup *r, uint32_t **deepest);

#endif
