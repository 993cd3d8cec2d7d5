/* The two tables of the first screen of `dwell report`. They need CPU times. */
#ifndef DWELL_REPORT_FIRST_SCREEN_H
#define DWELL_REPORT_FIRST_SCREEN_H

#include "report/views.h"

/* Whether the session's CPU times are known, so that these views have values. Imported sessions have none. */
bool first_screen_is_known(const struct summary *s);

/* The functions with their times, those on the CPU first among the columns. The rows are not sorted. */
struct table view_work(const struct analysis *l);

/* The calls in which threads waited. The rows are not sorted. */
struct table view_waits(const struct analysis *l);

#endif
