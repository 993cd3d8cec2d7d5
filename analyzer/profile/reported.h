/* What an imported report says of functions, where it says something: it holds before what the call tree says. */
#ifndef DWELL_PROFILE_REPORTED_H
#define DWELL_PROFILE_REPORTED_H

#include "profile/profile.h"

/* Puts the reported values in the place of those of the functions that have any; `sums` are by function. */
void reported_functions(const struct profile *p, struct times *sums);

/* The same of modules, as far as they are of processes that the profile has threads of. */
void reported_modules(const struct profile *p, struct times *sums);

/* Whether callers and callees were reported, so that the tree is not to be asked for them. */
bool reported_has_edges(const struct profile *p);

#endif
