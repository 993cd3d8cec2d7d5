/* The columns of a page's tables about how times are known: estimated ones have 95 % intervals. */
#ifndef DWELL_VIEW_TIMING_COLUMNS_H
#define DWELL_VIEW_TIMING_COLUMNS_H

#include "analysis/summary.h"
#include "view/container.h"

enum { MAX_TIMING_COLUMNS = 3 + ESTIMATED_VALUES };

struct timing_row {
    uint64_t timing; /* 0 timed, 1 partly, 2 sampled, 3 counted */
    uint64_t timed_calls, samples;
    uint64_t intervals[ESTIMATED_VALUES]; /* half widths in ticks */
};

/* Makes the rows of groups or paths. Only `functions` can be partly timed. The caller frees them. */
struct timing_row *timing_rows(const struct times *times, size_t count, bool functions);

/* Lists the columns and returns their number. `order` is that of struct container_column. */
size_t timing_columns_list(struct container_column *columns, const struct timing_row *rows, const uint32_t *order);

#endif
