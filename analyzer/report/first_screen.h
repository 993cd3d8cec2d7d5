/* The tables of the first screens of `dwell report` and `dwell tree`. They need CPU times. */
#ifndef DWELL_REPORT_FIRST_SCREEN_H
#define DWELL_REPORT_FIRST_SCREEN_H

#include "report/views.h"

/* Whether the session's CPU times are known, so that these views have values. Imported sessions have none. */
bool first_screen_is_known(const struct summary *s);

/* The functions with their times, those on the CPU first among the columns. The rows are not sorted. */
struct table view_work(const struct analysis *l);

/* The heading of a table of work that is in this order, "exclusive CPU time". The caller frees it. */
char *first_screen_work_heading(const struct summary *s, const char *order);

/* The calls in which threads waited. The rows are not sorted. */
struct table view_waits(const struct analysis *l);

/* The same, only the longest waits, sorted. The heading says how many there are. */
struct table view_longest_waits(const struct analysis *l, size_t limit);

#endif
