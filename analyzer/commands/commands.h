/* The subcommands. Each parses its own options, and returns the program's exit status. */
#ifndef DWELL_COMMANDS_COMMANDS_H
#define DWELL_COMMANDS_COMMANDS_H

#include <argp.h>

#include "analysis/analysis.h"
#include "base/amount.h"
#include "commands/die.h"
#include "commands/shared_options.h"
#include "report/table_formats.h"

typedef int command(int argc, char **argv);

command command_advise, command_annotate, command_record, command_report, command_tree, command_callers, command_info,
    command_marks, command_control, command_export, command_histogram, command_slowest, command_import, command_replay,
    command_doctor, command_cc, command_cxx, command_compare, command_diff, command_merge, command_profile,
    command_scaling, command_values, command_view, command_top, command_complete;

#define DEFAULT_SESSION DWELL_USUAL_FILE

/* Numbers, amounts of time, times in nanoseconds. Each ends the program if the text is not valid; `option` begins the
 * message. */
unsigned long option_number(const char *option, const char *text);
struct amount option_amount(const char *option, const char *text);
uint64_t option_time(const char *option, const char *text);

/* The PERCENT of an overhead budget, 1 to 1000, in thousandths. `option` begins the message. */
uint32_t option_overhead(const char *option, const char *text);

/* A number of bytes, which may end in K, M or G. `wanted` completes the message "'TEXT' is not ...". */
uint64_t option_size(const char *option, const char *text, uint64_t min, uint64_t max, const char *wanted);

/* Ends the program because the text is none of these names, such as "text, csv, json". */
void option_refuse(const char *option, const char *text, const char *names) __attribute__((noreturn));

/* Ends the program unless the text is one of these names. */
void option_check(const char *option, const char *text, const char *names);

/* Finds what a text stands for: the row of the table, an array of structs whose first member is "const char *name".
 * Ends the program if no row has that name. */
#define option_choice(option, text, table)                                                                             \
    (&(table)[option_find_row(option, text, &(table)->name, sizeof *(table), sizeof(table) / sizeof *(table))])
size_t option_find_row(const char *option, const char *text, const char *const *first, size_t row_size, size_t count);

/* A number of threads. */
unsigned option_jobs(const char *text);

/* The printer of --format's argument. */
table_printer *option_format(const char *text);

/* Ends the program if no view has a column with this key; `recent`: with the columns of `dwell top`. */
void option_check_sort(const char *text, bool recent);

/* For struct command_line: checks --sort, and prints the list of --columns help, of views with the times. */
bool option_read_times(void *settings, enum shared_option option, const char *argument);

/* Prints these columns and ends the program if the text is "help". */
void option_list_columns(const char *text, const struct column *columns, size_t count);

/* Filter, order and choose columns of a table as the options say; they end the program where the table has no such
 * column. */
struct row_filters;
struct sorting;
void option_filter(struct table *t, const struct row_filters *filters);
void option_order(struct table *t, const struct sorting *sorting);
void option_choose(struct table *t, const char *columns);

/* Sorts the rows and chooses columns, unless NULL. With `all`, any column may be left out. */
void option_arrange(struct table *t, const char *sort, const char *columns, bool all);

/* The same with only the first `limit` rows; zero: all. Any column may be left out, also that by which rows are sorted.
 */
void option_arrange_first(struct table *t, const char *sort, size_t limit, const char *columns);

/* Whether an argument that may be a PID or a file is a PID. */
bool option_is_pid(const char *text);

/* The function that FUNCTION names. Ends the program if there is none, or more than one. */
uint32_t option_function(const struct analysis *session, const char *text);

/* The same for views of single calls. Ends the program if the function's calls were only counted, and warns if some
 * were. Both say how to time them. */
uint32_t option_timed_function(const struct analysis *session, const char *text);

/* Says where calls of the session that were only counted are, such as "left out", and how to time them. */
void say_counted(const char *file, const char *where);

/* Loads a session. Ends the program if that fails. */
void command_load(struct analysis *session, const char *path, const struct analysis_options *options);

/* What of a session was damaged or missing when it was opened. */
struct damage {
    uint64_t chunks, records, bytes;
    bool any;
};
struct damage damage_of(const struct session_file *file);

/* Says what is missing, if anything is. Ends the program if that is an error. */
void damage_report(const char *path, struct damage damage, bool strict);

/* Ends the program if `path` is the session, under the same name or another. NULL is stdout. */
void output_spare(const char *path, const char *session);

/* Opens the file for writing; NULL is stdout. Ends the program if that fails. An older regular file stays until
 * output_close, so that nothing is lost if the program ends before. */
FILE *output_open(const char *path);

/* Closes the file, which gets its name. Returns the exit status: an error, which is printed, if not all could be read
 * or written. */
int output_close(const char *path, FILE *out);

/* Before the program ends without output_close: removes a part that stands under the final name. */
void output_abandon(const char *path);

/* Flushes stdout. Returns the exit status: an error, which is printed, if not all could be read or written. */
int finish_output(void);

#endif
