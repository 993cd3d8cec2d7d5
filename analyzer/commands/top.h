/* What `dwell top` shows, on a screen and as plain tables. */
#ifndef DWELL_COMMANDS_TOP_H
#define DWELL_COMMANDS_TOP_H

#include "analysis/live.h"
#include "report/row_filter.h"

struct top_settings {
    uint64_t interval; /* between refreshes, in nanoseconds */
    enum rollup_by by;
    const char *sort;    /* a column's key; NULL: what takes most time now */
    const char *columns; /* NULL: the usual ones */
    struct row_filters filters;
};

/* The column that rows are sorted by, and the keys of those that are shown, separated by commas. */
const char *top_sort(const struct top_settings *s, const struct live *live);
const char *top_columns(const struct top_settings *s, const struct live *live);

/* Filtered and sorted, at most `limit` rows (zero: all); `recent`: all columns are of what happened since the look
 * before. */
struct table top_table(const struct top_settings *s, const struct live *live, bool recent, size_t limit);

/* Shows it on the terminal until the user has enough; returns the exit status. */
int top_show(struct live *live, struct top_settings *s);

#endif
