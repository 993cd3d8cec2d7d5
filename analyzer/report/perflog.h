/* The views of PerfLog logs (import/perflog_log.h). */
#ifndef DWELL_REPORT_PERFLOG_H
#define DWELL_REPORT_PERFLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/perflog_log.h"
#include "report/table.h"

/* A marker's durations in nanoseconds, over all runs; those of one name together unless they are kept apart. */
struct perflog_row {
    const char *app, *marker;
    uint32_t id;
    const char *file; /* where it was registered; NULL if it never was */
    uint64_t line;
    size_t order; /* of its appearance */
    uint64_t errors;
    const struct perflog_attribute *attributes; /* the log's */
    size_t attribute_count;
    uint64_t count, total, least, mean, greatest, median, p90, p99, deviation;
};

/* In the order of application, marker and appearance; to be freed. */
struct perflog_row *perflog_rows(const struct perflog *log, bool instances, size_t *count);

/* Which rows, in which order. */
struct perflog_choice {
    const char *sort; /* a key of perflog_sort_keys */
    size_t limit;     /* zero: all */
    bool instances;
};
extern const char perflog_sort_keys[], perflog_diff_sort_keys[];
bool perflog_can_sort(const char *key);
bool perflog_diff_can_sort(const char *key);
void perflog_sort(struct perflog_row *rows, size_t count, const char *key);

/* A table that owns its columns' keys. */
struct perflog_table {
    struct table table;
    struct column *columns;
    char **keys;
    size_t key_count;
};
void perflog_table_drop(struct perflog_table *t);

/* `pairs`: with a column for each key of the key=value pairs in markers' strings. */
struct perflog_table view_perflog(const struct perflog *log, const struct perflog_choice *choice, bool pairs);
struct table view_perflog_monitors(const struct perflog *log, bool instances);
struct table view_perflog_runs(const struct perflog *log);

/* Markers of two logs; the biggest change first. */
struct table view_perflog_diff(const struct perflog *first, const struct perflog *second,
                               const struct perflog_choice *choice);

/* ---- key=value pairs ---- */

/* The next pair of a marker's string at *at, which is moved behind it; false: there is none. The key is without the
 * blanks around it, the value as it stands. */
struct perflog_pair {
    const char *key, *value;
    size_t key_length, value_length;
};
bool perflog_next_pair(const char **at, struct perflog_pair *pair);

/* The value of the row's pair of that key with its macros expanded: %AVG%, %MIN%, %MAX% in seconds, %KEY% the value of
 * another pair; where that makes a calculation of numbers, its result. NULL: no such pair, or a result that is not
 * known. To be freed. */
char *perflog_pair_value(const struct perflog_row *row, const char *key);

#endif
