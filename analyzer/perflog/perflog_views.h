/* The views of PerfLog logs (perflog/perflog_log.h). */
#ifndef DWELL_PERFLOG_PERFLOG_VIEWS_H
#define DWELL_PERFLOG_PERFLOG_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perflog/perflog_log.h"
#include "report/table_formats.h"

/* A marker's durations over all runs: in nanoseconds, or in ticks if the resolution is unknown. Markers of one name and
 * unit are summed up unless instances are shown. */
struct perflog_row {
    const char *app, *marker;
    uint32_t id;
    const char *file; /* where it was registered; NULL if it was not */
    uint64_t line;
    size_t order; /* order of appearance */
    uint64_t errors;
    const struct perflog_attribute *attributes; /* owned by the log */
    size_t attribute_count;
    bool in_ticks; /* the durations below are in ticks of an unknown resolution */
    uint64_t count, total, least, mean, greatest, median, p90, p99, deviation;
};

/* The rows in the order of application, marker and appearance. The caller frees them. */
struct perflog_row *perflog_rows(const struct perflog *log, bool instances, size_t *count);

/* Selects and sorts rows. */
struct perflog_choice {
    const char *sort; /* a key of perflog_sort_keys */
    size_t limit;     /* 0 for all */
    bool instances;
};
extern const char perflog_sort_keys[], perflog_diff_sort_keys[];
bool perflog_can_sort(const char *key);
bool perflog_diff_can_sort(const char *key);
void perflog_sort(struct perflog_row *rows, size_t count, const char *key);

/* A table that owns the keys of its columns. */
struct perflog_table {
    struct table table;
    struct column *columns;
    size_t *units;
    char **keys;
    size_t key_count;
};
void perflog_table_drop(struct perflog_table *t);

/* The view of markers. With `pairs` it has a column for each key of the key=value pairs in markers' strings and for
 * each attribute. Without, the column of markers shows them with their values. */
struct perflog_table view_perflog(const struct perflog *log, const struct perflog_choice *choice, bool pairs);
struct table view_perflog_monitors(const struct perflog *log, bool instances);
struct table view_perflog_runs(const struct perflog *log);

/* ---- key=value pairs ---- */

/* Parses the next pair of a marker's string at *at, and moves *at past it. Removes blanks around the key but
 * keeps the value as it is. Returns false if there is no further pair. */
struct perflog_pair {
    const char *key, *value;
    size_t key_length, value_length;
};
bool perflog_next_pair(const char **at, struct perflog_pair *pair);

/* The value of the row's pair with that key. Macros are expanded: %AVG%, %MIN% and %MAX% are times in seconds, %KEY% is
 * the value of another pair. A product or quotient of numbers is calculated. Returns NULL if there is no such pair or
 * the result is unknown. The caller frees the value. */
char *perflog_pair_value(const struct perflog_row *row, const char *key);

/* The marker's string with the results of its macros, followed by its attributes as pairs. The caller frees it. */
char *perflog_text_with_values(const struct perflog_row *row);

#endif
