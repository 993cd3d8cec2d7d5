/* Values that an imported report states for functions and modules. They override the sums of the call tree. */
#ifndef DWELL_PROFILE_REPORTED_H
#define DWELL_PROFILE_REPORTED_H

#include "dwell/format.h"
#include "profile/profile.h"

/* Replaces the sums of the functions that have reported values. `sums` are by function. Rows of processes without a
 * thread in the profile are ignored. */
void reported_functions(const struct profile *p, struct times *sums);

/* The same for modules. */
void reported_modules(const struct profile *p, struct times *sums);

/* By function or module, the columns that the report states; NULL where it has no row or several. `process`: rows of
 * that process only, or PROFILE_NONE for all. The caller frees the list. */
const struct dwell_stated **reported_stated(const struct profile *p, enum dwell_reported kind, uint32_t process);

/* What the report states in a column. Returns false if it states nothing; `stated` may be NULL. */
bool stated_value(const struct dwell_stated *stated, unsigned column, double *value);

/* Whether the report has callers and callees. Then they replace those of the call tree. */
bool reported_has_edges(const struct profile *p);

#endif
