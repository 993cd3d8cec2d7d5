/* The tables of the first screens of `dwell report` and `dwell tree`. They need CPU times. */
#ifndef DWELL_TABLES_FIRST_SCREEN_H
#define DWELL_TABLES_FIRST_SCREEN_H

#include "tables/views.h"

/* Whether the session's CPU times are known, so that these views have values. Imported sessions have none. */
bool first_screen_is_known(const struct summary *summary);

/* The functions with their times, those on the CPU first among the columns. The rows are not sorted. */
struct table view_work(const struct analysis *analysis);

/* The heading of a table of waits. The caller frees it. */
char *first_screen_wait_heading(const struct summary *summary);

/* The heading of a table of work that is in this order, "exclusive CPU time". The caller frees it. */
char *first_screen_work_heading(const struct summary *summary, const char *order);

/* The calls in which threads waited. The rows are not sorted. */
struct table view_waits(const struct analysis *analysis);

/* How many rows of work and of waits the report shows. */
struct first_screen_rows {
    size_t work, waits;
};

/* The rows that fit on a screen of `lines` lines, with both headings and `around` lines above and below the tables. At
 * least 4 rows of work and 3 of waits, at most 20 and 10. Those are shown if `lines` is zero: the screen is unknown.
 * `waits` is how many waits there are. */
struct first_screen_rows first_screen_fit(size_t lines, size_t around, size_t waits);

/* Whether the least rows fit. */
bool first_screen_has_room(size_t lines, size_t around, size_t waits);

/* The same as view_waits, only the longest waits, sorted. The heading says how many there are. */
struct table view_longest_waits(const struct analysis *analysis, size_t limit);

#endif
