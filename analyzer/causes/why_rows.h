/* The view of a comparison: its sentence, and a table of its lines. */
#ifndef DWELL_CAUSES_WHY_ROWS_H
#define DWELL_CAUSES_WHY_ROWS_H

#include "causes/why.h"
#include "tables/table.h"

/* "the slowest 312 of 31204 calls of parse take 8.4 ms more: 6.1 ms blocked on mutex cache_lock, held by evict <
 * shrink". The session is one of those compared. The caller frees it. */
char *why_answer(const struct why *why, const struct why_session *session, const struct why_choice *choice);

struct table view_why(const struct why *why);

/* What else differs. */
struct table view_why_factors(const struct why *why);

/* The text columns; with the intervals of the differences. */
extern const char why_columns_with_intervals[];
extern const struct column view_why_columns[];
extern const size_t view_why_column_count;
extern const struct column view_why_factor_columns[];
extern const size_t view_why_factor_count;

#endif
