/* Folds recursion: makes a call tree in which each function is on a call path at most once. */
#ifndef DWELL_PROFILE_RECURSION_H
#define DWELL_PROFILE_RECURSION_H

#include "profile/rollup.h"

/* Adds a recursive call to the outermost open call of its function, and the call's callees below it. Modules, functions
 * and threads keep the numbers of the rollup's profile. *deepest is, by node, the highest number of calls of its
 * function that were open at once. The caller frees it. */
struct profile *recursion_fold(const struct rollup *r, uint32_t **deepest);

#endif
