/* The options that several commands have. One table gives each its name, argument and meaning; one parser reads them.
 */
#ifndef DWELL_COMMANDS_SHARED_OPTIONS_H
#define DWELL_COMMANDS_SHARED_OPTIONS_H

#include <argp.h>

#include "analysis/analysis.h"
#include "base/amount.h"
#include "report/table_formats.h"
#include "tables/row_filter.h"

enum shared_option {
    SHARED_END, /* of a list */
    SHARED_FROM,
    SHARED_TO,
    SHARED_WITHIN,
    SHARED_THREAD,
    SHARED_PROCESS,
    SHARED_ROOT,
    SHARED_ONLY,
    SHARED_SUPPRESS,
    SHARED_IGNORE,
    SHARED_MIN_DURATION,
    SHARED_CALL_DEPTH,
    SHARED_FILTER,
    SHARED_MIN,
    SHARED_SORT,
    SHARED_LIMIT,
    SHARED_COLUMNS,
    SHARED_VALUE,
    SHARED_FORMAT,
    SHARED_UNITS,
    SHARED_FULL_NAMES,
    SHARED_COLOR,
    SHARED_NO_PAGER,
    SHARED_CSV_SAFE,
    SHARED_OUTPUT,
    SHARED_RAW,
    SHARED_NO_MERGE,
    SHARED_JOBS,
    SHARED_STRICT,
    SHARED_NO_CONFIG,
    SHARED_HELP,
    SHARED_HELP_ALL,
    SHARED_PRINT_OPTIONS,
    SHARED_PRINT_TEXT,
    SHARED_COUNT,
    SHARED_PART = SHARED_COUNT, /* in a command's list: all from SHARED_FROM to SHARED_ROOT */
    SHARED_CALLS,               /* likewise: from SHARED_ONLY to SHARED_CALL_DEPTH */
    SHARED_CALLS_AT_ANY_DEPTH,  /* likewise, where --depth has another meaning */
    SHARED_TEXT,                /* likewise: from SHARED_UNITS to SHARED_NO_PAGER */
};

_Static_assert(SHARED_COUNT <= 64, "shared_options.set has a bit for each");

/* An option that a command has, and what its help adds to the common text, such as a default. */
struct shared_use {
    enum shared_option option;
    const char *note; /* NULL if nothing */
};

/* The values of the options. Zeroed at first; command_line_parse sets the defaults. */
struct shared_options {
    struct analysis_options load; /* the part of the session, --raw and --jobs */
    struct row_filters filters;
    struct amount min;
    const char *sort, *columns, *value; /* NULL if not given */
    size_t limit;
    const char *format; /* "text" by default */
    table_printer *print;
    const char *output; /* NULL for standard output */
    unsigned needs;     /* what the session must have: a set of enum session_needs */
    uint64_t set;       /* bits 1 << enum shared_option: given at all */
    uint64_t typed;     /* likewise, but on the command line, not in the config file */
};

/* Whether the option was given, on the command line or in the config file. */
static inline bool shared_is_set(const struct shared_options *s, enum shared_option option)
{
    return s->set & UINT64_C(1) << option;
}

/* Appends the options to `list` as argp takes them, with the headings of their groups. Returns the new count; `list`
 * has room for SHARED_ENTRIES more. Their texts are valid until the next call. */
enum { SHARED_ENTRIES = 2 * SHARED_COUNT };
size_t shared_options_append(const struct shared_use *uses, struct argp_option *list, size_t count);

/* The option with this key of argp; SHARED_END if there is none. */
enum shared_option shared_option_of_key(int key);

/* The option's name, without dashes. */
const char *shared_option_name(enum shared_option option);

/* The words that the option's argument can be, separated by spaces; NULL if it can be others. */
const char *shared_option_words(enum shared_option option);

/* Reads an argument. Ends the program if it is not valid. */
void shared_option_read(struct shared_options *s, enum shared_option option, const char *argument);

/* Reads options of the program that stand before the command: --no-pager and --color. Returns the command's index, or
 * argc. */
int shared_options_read_before(int argc, char **argv);

void shared_options_drop(struct shared_options *s);

/* What is loaded, with the shortest and the longest calls if the output has them. */
struct analysis_options shared_options_of_load(const struct shared_options *s);

/* Loads the part of the session that the options select; DWELL_USUAL_FILE if `path` is NULL. Ends the program if that
 * fails, if the session lacks what the command needs, or if --min is a time and the session holds samples. */
void shared_options_load(struct analysis *analysis, const char *path, const struct shared_options *s);

/* The same without the shortest and the longest calls, which the command has no columns for. */
void shared_options_load_plain(struct analysis *analysis, const char *path, const struct shared_options *s);

/* The same for a whole session and a view that goes by moments. These are as measured, with the probes in them, as are
 * single calls. The sums of the session are those that all commands show. */
void shared_options_load_moments(struct analysis *analysis, const char *path, const struct shared_options *s);

/* Ends the program if the option's amount is a time and the session holds samples. */
void option_check_times(const char *option, struct amount amount, bool samples, const char *path);

#endif
