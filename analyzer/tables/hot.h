/* What makes functions hot: the best measure of work that a session has. */
#ifndef DWELL_TABLES_HOT_H
#define DWELL_TABLES_HOT_H

#include "tables/views.h"

/* The key of the column by which functions are sorted, and the columns that show it. */
struct hot_measure {
    unsigned needs; /* enum value_needs */
    const char *key, *columns;
};

const struct hot_measure *hot_measure_of(const struct summary *summary);

#endif
