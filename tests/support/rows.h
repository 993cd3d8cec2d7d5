/* Sorted views, like those of a report. */
#ifndef TESTS_SUPPORT_ROWS_H
#define TESTS_SUPPORT_ROWS_H

#include "tables/views.h"

/* Calls view_rows and view_sort. The test fails if sorting fails. */
struct table sorted_rows(const struct analysis *analysis, enum rollup_by by, const struct sorting *sorting);

/* Sorts a view by a column's key. The test fails if sorting fails. */
struct table sorted(struct table t, const char *key);

#endif
