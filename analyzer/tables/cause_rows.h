/* The view of waits with their causes. */
#ifndef DWELL_TABLES_CAUSE_ROWS_H
#define DWELL_TABLES_CAUSE_ROWS_H

#include "causes/wait_causes.h"
#include "tables/table.h"

/* What makes a row: the waiting call path, the kind of object and the cause with its call path; the object; the waiting
 * function; the waiting thread; the cause's function and thread; or what the first one has and the object's name. */
enum waits_by {
    WAITS_BY_PATH,
    WAITS_BY_LOCK,
    WAITS_BY_FUNCTION,
    WAITS_BY_THREAD,
    WAITS_BY_WAKER,
    WAITS_BY_OBJECT,
};

/* The longest total first. Puts the waits into an order that all tables of them have. */
struct table view_causes(const struct analysis *analysis, const struct wait_causes *causes, enum waits_by by);

struct cause_limits {
    size_t rows;       /* the table has the first ones; the others are hidden */
    size_t path;       /* bytes of a call path; a longer one has only its innermost functions */
    uint32_t *of_wait; /* set to the row of each wait; UINT32_MAX for hidden ones */
};

/* The same with limits. */
struct table view_causes_limited(const struct analysis *analysis, const struct wait_causes *causes, enum waits_by by,
                                 const struct cause_limits *limits);

extern const struct column view_causes_columns[];
extern const size_t view_causes_column_count;

#endif
