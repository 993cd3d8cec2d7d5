/* Makes profiles of a part of a profile's call paths. They have the threads with calls there, but no marks and no
 * reported values of an import. */
#ifndef DWELL_PROFILE_SUBTREE_H
#define DWELL_PROFILE_SUBTREE_H

#include "profile/profile.h"

/* The calls of the functions that are set in `roots` (by function), and everything below them. The outermost of these
 * calls become the first calls of their threads. Exits and OS events are not counted. Modules and functions keep their
 * numbers. */
struct profile *subtree_below(const struct profile *p, const bool *roots);

/* The call paths that are set in `kept` (by node), as those above them must be. Functions keep their numbers. `nodes`
 * gets the new number of each kept node. Roots get no amounts. */
struct profile *subtree_kept(const struct profile *p, const bool *kept, uint32_t *nodes);

/* Sets `kept` for all paths above those that are set. */
void subtree_keep_callers(const struct profile *p, bool *kept);

/* The call paths that have calls, time or page faults, and only the functions on them. */
struct profile *subtree_used(const struct profile *p);

#endif
