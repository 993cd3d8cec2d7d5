/* Makes profiles of a part of a profile's call paths. They have the threads with calls there, but no marks and no
 * reported values of an import. */
#ifndef DWELL_PROFILE_SUBTREE_H
#define DWELL_PROFILE_SUBTREE_H

#include "profile/profile.h"

/* The calls of a function and everything below them. The function's outermost calls become the first calls of their
 * threads. Exits and OS events are not counted. Modules and functions keep their numbers. */
struct profile *subtree_below(const struct profile *p, uint32_t function);

/* The call paths that have calls, time or page faults, and only the functions on them. */
struct profile *subtree_used(const struct profile *p);

#endif
