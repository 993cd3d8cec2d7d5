/* Checks of the rows of imported reports: a file may be damaged. */
#ifndef DWELL_TRACE_REPORTED_ROWS_H
#define DWELL_TRACE_REPORTED_ROWS_H

#include <stdbool.h>

#include "dwell/format.h"

/* A real report has no values that contradict each other or whose sums overflow. */
bool reported_is_plausible(const struct dwell_rec_reported *r);
bool reported_columns_are_plausible(const struct dwell_stated *stated);

#endif
