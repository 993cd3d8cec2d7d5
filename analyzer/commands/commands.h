/* The subcommands. Each parses its own options, and returns the program's exit status. */
#ifndef DWELL_COMMANDS_COMMANDS_H
#define DWELL_COMMANDS_COMMANDS_H

#include <argp.h>

#include "analysis/analysis.h"
#include "commands/die.h"
#include "report/table.h"

typedef int command(int argc, char **argv);

command command_record, command_report, command_tree, command_callers, command_info, command_marks, command_control,
    command_export, command_events, command_histogram, command_slowest, command_perflog, command_import, command_replay,
    command_doctor, command_diff, command_merge, command_view, command_top;

#define DEFAULT_SESSION "dwell.data"

/* argp_parse with argv[0] as "dwell NAME", so that its messages name the command. */
void parse_options(const struct argp *argp, const char *name, int argc, char **argv, void *input);

/* Numbers of options; they end the program where the text is no number of the kind. */
unsigned long option_number(const char *option, const char *text);
double option_percent(const char *option, const char *text);

/* --by of views that can be told apart by line, and by nothing else. */
void option_by_line(const char *text);

/* A time such as 2.5ms, in nanoseconds. */
uint64_t option_time(const char *option, const char *text);

/* Ends the program: the text is none of these, such as "text, csv, json". */
void option_refuse(const char *option, const char *text, const char *names) __attribute__((noreturn));

/* A number of threads, and a key to sort rows by: of sessions that are watched if `recent`. */
unsigned option_jobs(const char *text);
const char *option_sort(const char *text, bool recent);

/* The printer of --format's argument. */
table_printer *option_format(const char *text);

/* The argument of --columns; "help" lists them and ends the program: those that all views have, or these. */
const char *option_columns(const char *text);
const char *option_columns_of(const char *text, const struct column *columns, size_t count);

/* Filter, order and choose columns of a table as the options say; they end the program where the table has no such
 * column. */
struct row_filters;
struct sorting;
void option_filter(struct table *t, const struct row_filters *filters);
void option_order(struct table *t, const struct sorting *sorting);
void option_choose(struct table *t, const char *columns);

/* Sorts the rows and chooses columns; NULL: as they are. `all`: any column may be left out. */
void option_arrange(struct table *t, const char *sort, const char *columns, bool all);

/* For ARGP_KEY_ARG of commands that take one session: sets *file. */
void option_session(const struct argp_state *state, const char *argument, const char **file);

/* The one function that FUNCTION names; ends the program where there is none, or more than one. */
uint32_t option_function(const struct analysis *session, const char *text);

/* Loads a session; ends the program where that fails. */
void command_load(struct analysis *session, const char *path, const struct analysis_options *options);

/* Ends the program if `path` (NULL: stdout) is the session, by whatever name. */
void output_spare(const char *path, const char *session);

/* The file to write to, stdout if `path` is NULL; ends the program where it cannot be. */
FILE *output_open(const char *path);

/* The status to return: an error, which is said, where it could not all be written. */
int output_close(const char *path, FILE *out);

/* Flushes stdout; the status to return: an error where it could not be written. */
int finish_output(void);

#endif
