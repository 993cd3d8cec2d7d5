/* The views: what is reported of a session, filled into a table. */
#ifndef DWELL_REPORT_VIEWS_H
#define DWELL_REPORT_VIEWS_H

#include "analysis/analysis.h"
#include "base/amount.h"
#include "base/histogram.h"
#include "profile/calls.h"
#include "report/row_filter.h"
#include "report/table.h"

/* Column sets; those of the times come in all of them. */
struct recent_times;
struct sorting {
    const char *key;                   /* of a column; "name" for the first one */
    size_t limit;                      /* rows; zero: all */
    bool calls;                        /* fill the columns of single calls, too */
    const struct row_filters *filters; /* NULL: none */
    const struct recent_times *recent; /* not NULL: with columns of them */
};

/* All keys that views can be sorted by: columns', and "name"; of sessions that are watched if `recent`; the answer is
 * how many there are. */
enum { MAX_SORT_KEYS = 128 };
size_t view_sort_keys(const char **keys, bool recent);

/* Of a table with such columns: which function, module, thread or process a row is of, in numbers of the rollup. */
size_t view_row_number(const struct table *t, size_t row);

/* Whether any of these keys, separated by commas, is of a column of single calls. */
bool view_needs_calls(const char *keys);

/* Functions, modules, threads or processes, in no order: view_sort sorts them. */
struct table view_rows(const struct analysis *l, enum rollup_by by, const struct sorting *sorting);

/* Modules with their functions below, likewise. */
struct table view_module_functions(const struct analysis *l);

/* Lines that calls were made from, likewise. */
struct table view_lines(const struct analysis *l);

/* Threads of one name together, likewise. */
struct table view_thread_names(const struct analysis *l);

struct tree_options {
    struct amount min;   /* smaller branches are folded */
    unsigned depth;      /* deeper ones too */
    bool by_thread;      /* a tree for each thread instead of one for all */
    bool collapse;       /* functions with a single callee and that in one row, */
    struct amount own;   /* if their own time is not more than that */
    bool fold_recursion; /* calls of functions that are open already, into those */
    bool unfolded;       /* what is folded is not shown at all */
    bool by_line;        /* calls from different lines are different paths */
};
struct table view_tree(const struct analysis *l, const struct tree_options *options);

/* With the lines of the calls, if the session was loaded with them. */
struct table view_callers(const struct analysis *l, uint32_t function);

/* Names of the four times, as keys of columns. */
extern const char *const call_time_names[CALL_TIMES];

/* How long the function's calls took, in buckets for each doubling or so; `wide`: bars of block characters. *exact, in
 * nanoseconds, is to be dropped by the caller. */
struct table view_histogram(const struct analysis *l, uint32_t function, enum call_time time, bool wide,
                            struct histogram *exact);

/* Its slowest calls, the slowest first. */
struct table view_slowest(const struct analysis *l, uint32_t function, enum call_time time, size_t limit);

struct table view_marks(const struct analysis *l);

/* The columns of these three, which have no times in common with the others. */
extern const struct column view_marks_columns[], view_histogram_columns[], view_slowest_columns[];
extern const size_t view_marks_column_count, view_histogram_column_count, view_slowest_column_count;

/* ---- shared by the views ---- */

/* Filters, sorts and limits the rows. It is an error if a filter or the key names no column of the table, or if a
 * filter compares a column with what it cannot be. */
bool view_sort(struct table *t, const struct sorting *sorting, struct error *error);

/* A table of a session whose columns are the subjects, which say what a row is of, the values (profile/values.h), and
 * others. */
struct table values_table(const struct column *subjects, size_t subject_count, const struct column *others,
                          size_t other_count, const struct summary *session);

/* Fills the values of a table's last row, and has it dimmed if what it is of mostly waits. */
void fill_times(struct table *t, const struct times *times);

/* The columns of the values alone; returns how many there are. */
enum { MAX_VALUE_COLUMNS = VALUE_COUNT * VALUE_FORMS * 2 };
size_t value_columns(struct column *columns);

/* A line for each of those columns: its key, and what it is; `recent`: and for those of what happened since the look
 * before, in place of those of single calls. */
void view_list_columns(FILE *out, bool recent);

#endif
