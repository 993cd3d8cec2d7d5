/* The views: functions that fill a table with one kind of rows of a session. */
#ifndef DWELL_TABLES_VIEWS_H
#define DWELL_TABLES_VIEWS_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "base/amount.h"
#include "profile/call_spread.h"
#include "profile/calls.h"
#include "tables/row_filter.h"
#include "tables/table.h"

/* How the rows of a view are filled, filtered, sorted and limited. */
struct recent_times;
struct sorting {
    const char *key;                   /* of a column; "name" for the first column */
    size_t limit;                      /* of rows; zero for all */
    bool calls;                        /* also fill the columns of single calls */
    unsigned call_times;               /* of these times: bits of enum call_time; zero for all */
    bool numbered;                     /* the table has what view_row_number needs */
    bool waiting_last;                 /* functions that only wait come last, whatever their values */
    const struct row_filters *filters; /* NULL for none */
    const struct recent_times *recent; /* NULL for a view without the columns of recent times */
};

/* What is wrong with a text that should name a column to sort by, as "no column 'cals'; did you mean 'calls'?", or with
 * `otherwise` at the end; NULL if it names one, or is "name". With `recent`, columns are those of a growing session.
 * The caller frees it. */
char *view_refuse_sort(const char *text, bool recent, const char *otherwise);

/* The number in the rollup of a row's function, module, thread or process. The table must be one of view_rows,
 * numbered. */
size_t view_row_number(const struct table *t, size_t row);

/* Whether any of these keys, separated by commas, is that of a column of single calls. */
bool view_needs_calls(const char *keys);

/* The times of single calls that these columns show: bits of enum call_time. NULL names none. */
unsigned view_call_times(const char *keys);

/* A row for each function, module, thread or process. The rows are not sorted; see view_sort. */
struct table view_rows(const struct analysis *analysis, enum rollup_by by, const struct sorting *sorting);

/* A row for each module, with its functions below it. The rows are not sorted. */
struct table view_module_functions(const struct analysis *analysis);

/* A row for each source line that contains calls. The rows are not sorted. */
struct table view_lines(const struct analysis *analysis);

/* A row for all threads of one name. The rows are not sorted. */
struct table view_thread_names(const struct analysis *analysis);

struct tree_options {
    struct amount min;   /* branches with less time are folded into one row */
    unsigned depth;      /* deeper branches, too */
    bool by_thread;      /* a tree for each thread instead of one for all */
    bool collapse;       /* a function and its only callee share a row */
    struct amount own;   /* if the function's own time is not more than this */
    bool fold_recursion; /* recursive calls are added to the outermost call of their function */
    bool unfolded;       /* branches that would be folded are not shown */
    bool by_line;        /* calls from different lines are different paths */
    bool by_cpu;         /* order, folding and hot path follow CPU time, which the session knows */
};
struct table view_tree(const struct analysis *analysis, const struct tree_options *options);

/* The function with its callers and callees, and the lines of the calls if the session was loaded with lines. With
 * `by_cpu`, order and shares follow CPU time instead of elapsed time, unless the function mostly waits. */
struct table view_callers(const struct analysis *analysis, uint32_t function, bool by_cpu);

/* Names of the four times: the keys of their columns. */
extern const char *const call_time_names[CALL_TIMES];

/* The durations of the function's calls in buckets of 1, 2, 5, 10 and so on. With `wide`, bars consist of block
 * characters. *exact is the distribution in nanoseconds; the caller drops it. */
struct table view_histogram(const struct analysis *analysis, uint32_t function, enum call_time time, bool wide,
                            struct call_spread *exact);

/* The function's slowest calls, the slowest first. */
struct table view_slowest(const struct analysis *analysis, uint32_t function, enum call_time time, size_t limit);

struct table view_marks(const struct analysis *analysis);

/* The columns of these three views, which do not have the columns of values. */
extern const struct column view_marks_columns[], view_histogram_columns[], view_slowest_columns[];
extern const size_t view_marks_column_count, view_histogram_column_count, view_slowest_column_count;

/* ---- shared by the views ---- */

/* Filters, sorts and limits the rows. It is an error if the table lacks the column of a filter or of the key, or if a
 * filter compares a column with a value of the wrong kind. */
bool view_sort(struct table *t, const struct sorting *sorting, struct error *error);

/* A table of a session with three groups of columns: subjects, which identify a row, values (profile/values.h), and
 * others. */
struct table values_table(const struct column *subjects, size_t subject_count, const struct column *others,
                          size_t other_count, const struct summary *session);

/* Columns after the values: the source file and line of the row's function, which are shown only if chosen. Filters of
 * functions use them. */
enum { PLACE_COLUMNS = 2 };
extern const struct column place_columns[PLACE_COLUMNS];
void fill_place(struct table *table, const struct function_name *function);

/* Fills the values of a table's last row. Dims the row if it mostly waits. */
void fill_times(struct table *t, const struct times *times);

/* The same for a row of a function: times of a part of its calls are marked as lower bounds. */
void fill_function_times(struct table *t, const struct times *times);

/* By function or module, the columns that an imported report states. NULL for other rows, and if only a part of the
 * session is loaded, as the percentages are of the whole. The caller frees it. */
const struct dwell_stated **stated_percentages(const struct analysis *analysis, enum rollup_by by);

/* Replaces the percentages of a table's last row by those that an imported report states, and adds the probe overhead
 * and the single calls that it states; `stated` may be NULL. */
void fill_stated(struct table *t, const struct dwell_stated *stated);

/* Sets a cell to the function's source file, without its folder, and line. It stays unknown if the file is unknown. */
void cell_source(struct cell *cell, const struct function_name *name);

/* Sets `columns` to the columns of the values and returns their number. */
enum { MAX_VALUE_COLUMNS = VALUE_COUNT * VALUE_FORMS * 2 };
size_t value_columns(struct column *columns);

/* Prints a line of help for each of these columns: its key and its meaning. With `recent`, also prints the columns of
 * recent times, instead of those of single calls. */
void view_list_columns(FILE *out, bool recent);

#endif
