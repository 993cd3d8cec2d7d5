/* The columns p50, p90 and p99 of a row's completed calls, elapsed inclusive. A table has them if its session was
 * loaded with durations. */
#ifndef DWELL_TABLES_PERCENTILES_H
#define DWELL_TABLES_PERCENTILES_H

#include "analysis/analysis.h"
#include "profile/durations.h"
#include "tables/table.h"

enum { PERCENTILE_COLUMNS = 3 };
extern const struct column percentile_columns[PERCENTILE_COLUMNS];

/* Whether any of these keys, separated by commas, is that of such a column. */
bool percentiles_are_named(const char *keys);

/* The columns that the tables of a session have: none, or all. */
size_t percentiles_list(struct column *columns, const struct analysis *analysis);

/* Fills the cells of these columns. Without calls, they stay unknown. */
void percentiles_fill(struct cell *cells, const struct analysis *analysis, const struct durations *d);

/* Moves percentiles between the row's minimum and maximum, if these were asked for: they are exact, and the middle of a
 * counter can be beyond them. Some sessions know them unasked; their percentiles are as those of all others. */
void percentiles_limit(struct table *t, const struct analysis *analysis);

/* By function of the profile. The caller frees the list by percentiles_free_list. */
struct durations **percentiles_by_function(const struct profile *p);
void percentiles_free_list(struct durations **list, const struct profile *p);

#endif
