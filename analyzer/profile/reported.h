/* Values that an imported report states for functions and modules. They override the sums of the call tree. */
#ifndef DWELL_PROFILE_REPORTED_H
#define DWELL_PROFILE_REPORTED_H

#include "profile/profile.h"

/* Replaces the sums of the functions that have reported values. `sums` are by function. Rows of processes without a
 * thread in the profile are ignored. */
void reported_functions(const struct profile *p, struct times *sums);

/* The same for modules. */
void reported_modules(const struct profile *p, struct times *sums);

/* Whether the report has callers and callees. Then they replace those of the call tree. */
bool reported_has_edges(const struct profile *p);

#endif
