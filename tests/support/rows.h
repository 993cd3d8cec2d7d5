/* Views as a report shows them: sorted. */
#ifndef TESTS_SUPPORT_ROWS_H
#define TESTS_SUPPORT_ROWS_H

#include "report/views.h"

/* view_rows and view_sort; the test fails if that fails. */
struct table sorted_rows(const struct analysis *l, enum rollup_by by, const struct sorting *sorting);

/* Sorts a view by a column's key, likewise. */
struct table sorted(struct table t, const char *key);

#endif
