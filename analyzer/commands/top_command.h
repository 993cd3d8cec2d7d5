/* The table of `dwell top`, for its screen and its plain tables. */
#ifndef DWELL_COMMANDS_TOP_COMMAND_H
#define DWELL_COMMANDS_TOP_COMMAND_H

#include "analysis/live.h"
#include "tables/row_filter.h"

struct top_settings {
    uint64_t interval; /* between refreshes, in nanoseconds */
    enum rollup_by by;
    const char *sort;    /* a column's key; NULL for what takes most time now */
    const char *columns; /* NULL for the usual ones */
    struct row_filters filters;
};

/* The key of the column that sorts the rows, and the keys of the shown columns, separated by commas. */
const char *top_sort(const struct top_settings *s, const struct live *live);
const char *top_columns(const struct top_settings *s, const struct live *live);

/* Keys of the columns that leave a narrow terminal, as the name is more important. Ended by NULL. */
extern const char *const top_optional_columns[];

/* The filtered and sorted rows, at most `limit` (0 for all). With `recent`, all columns are of the time since the last
 * refresh. */
struct table top_table(const struct top_settings *s, const struct live *live, bool recent, size_t limit);

/* Shows the table on the terminal until the user quits. Returns the exit status. */
int top_show(struct live *live, struct top_settings *s);

#endif
