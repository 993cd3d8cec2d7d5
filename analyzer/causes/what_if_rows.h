/* The view of functions by what less of their time would bring. */
#ifndef DWELL_CAUSES_WHAT_IF_ROWS_H
#define DWELL_CAUSES_WHAT_IF_ROWS_H

#include "causes/what_if.h"
#include "tables/table.h"

/* A row for each function, with the time that the run would be shorter by. `recorded` is its length in ticks. `limits`:
 * the ranks have the least lengths. */
struct table view_what_if(const struct analysis *analysis, const struct what_if_rank *ranks, size_t count,
                          uint64_t recorded, bool limits);

/* A row for each function and factor, with the predicted length: for json. */
struct table view_what_if_factors(const struct analysis *analysis, const struct what_if_rank *ranks, size_t count);

extern const struct column view_what_if_columns[];
extern const size_t view_what_if_column_count;

#endif
