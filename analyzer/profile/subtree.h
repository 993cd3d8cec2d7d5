/* Parts of a profile: threads are those that have any calls there. Marks are left out, as are the reported values of an
 * import. */
#ifndef DWELL_PROFILE_SUBTREE_H
#define DWELL_PROFILE_SUBTREE_H

#include "profile/profile.h"

/* What happened within calls of a function: its outermost calls, and what is below them, become the first calls of
 * their threads. Exits and OS events are not counted. Modules and functions have the numbers that they have in the
 * whole. */
struct profile *subtree_below(const struct profile *p, uint32_t function);

/* The call paths on which anything happened, with their functions alone. */
struct profile *subtree_used(const struct profile *p);

#endif
