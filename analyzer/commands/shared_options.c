/* The table of options that several commands have, such as --from, --thread, --filter and --format, and the parser
 * of their arguments. */
#include "commands/shared_options.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/session_needs.h"
#include "base/csv_text.h"
#include "base/duration.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text_options.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/within_values.h"
#include "tables/percentiles.h"
#include "tables/views.h"
#include "trace/activities.h"
#include "trace/session_seal.h"

enum { FIRST_KEY = 512, GROUP_PART = 11, GROUP_CALLS = 12, GROUP_ROWS = 13, GROUP_COMMON = 14 };

#define KEY(option) (FIRST_KEY + (option))

static const struct argp_option shared_table[SHARED_COUNT] = {
    [SHARED_FROM] = { "from", KEY(SHARED_FROM), "WHEN", 0,
                      "Begin at this time since the session began (500us, 2.5ms, 1s), or at a mark (mark:N, mark:TEXT)",
                      GROUP_PART },
    [SHARED_TO] = { "to", KEY(SHARED_TO), "WHEN", 0, "End before this time or mark", GROUP_PART },
    [SHARED_WITHIN] = { "within", KEY(SHARED_WITHIN), "ACTIVITY", 0,
                        "Only the time of each thread in its activities: marker:WHAT from Perf_MarkBegin to "
                        "Perf_MarkEnd, activity:CLASS from START to END of trace events; or in calls with such a "
                        "recorded value, 'FUNCTION: WHAT = VALUE'; may be repeated",
                        GROUP_PART },
    [SHARED_THREAD] = { "thread", KEY(SHARED_THREAD), "THREAD", 0,
                        "Only this thread: a tid, or a glob for names; may be repeated", GROUP_PART },
    [SHARED_PROCESS] = { "process", KEY(SHARED_PROCESS), "PROCESS", 0,
                         "Only this process: a PID, or a glob for names; may be repeated", GROUP_PART },
    [SHARED_ROOT] = { "root", KEY(SHARED_ROOT), "FUNCTION", 0,
                      "Only what happens within calls of FUNCTION, a name or a glob; may be repeated", GROUP_PART },
    [SHARED_ONLY] = { "only", KEY(SHARED_ONLY), "PATTERN", 0,
                      "Only the functions that match: the time of all others counts for their callers", GROUP_CALLS },
    [SHARED_SUPPRESS] = { "suppress", KEY(SHARED_SUPPRESS), "PATTERN", 0,
                          "Leave out these functions: their time counts for their callers", GROUP_CALLS },
    [SHARED_IGNORE] = { "ignore", KEY(SHARED_IGNORE), "PATTERN", 0,
                        "Leave out these functions and all that they call, with their time", GROUP_CALLS },
    [SHARED_MIN_DURATION] = { "min-duration", KEY(SHARED_MIN_DURATION), "TIME", 0,
                              "Leave out calls that took less, unless the OS intervened in them: their time counts for "
                              "their callers",
                              GROUP_CALLS },
    [SHARED_CALL_DEPTH] = { "depth", KEY(SHARED_CALL_DEPTH), "N", 0,
                            "Leave out calls that are deeper than N: their time counts for their callers",
                            GROUP_CALLS },
    [SHARED_FILTER] = { "filter", KEY(SHARED_FILTER), "CONDITION", 0,
                        "Only rows that meet it: a column's key, one of ~ !~ = != < <= > >=, and a value (~ takes a "
                        "glob); a GLOB alone means name~GLOB, which is also a wait's caller; or only what happens in "
                        "calls with such a "
                        "recorded value, 'FUNCTION.WHAT > VALUE'; may be repeated",
                        GROUP_ROWS },
    [SHARED_MIN] = { "min", KEY(SHARED_MIN), "AMOUNT", 0,
                     "Leave out what took less time: a percentage (5%) or a time (2ms)", GROUP_ROWS },
    [SHARED_SORT] = { "sort", 's', "COLUMN", 0, "Sort by this column, largest first, or by name", GROUP_ROWS },
    [SHARED_LIMIT] = { "limit", 'n', "N", 0, "Print at most N rows; 0: all", GROUP_ROWS },
    [SHARED_COLUMNS] = { "columns", KEY(SHARED_COLUMNS), "KEYS", 0,
                         "Show these columns, separated by commas; help lists them", GROUP_ROWS },
    [SHARED_VALUE] = { "value", KEY(SHARED_VALUE), "KEY", 0, "Use this value:", GROUP_ROWS },
    [SHARED_FORMAT] = { "format", KEY(SHARED_FORMAT), "FORMAT", 0, "text (default), csv or json", GROUP_COMMON },
    [SHARED_UNITS] = { "units", KEY(SHARED_UNITS), "UNIT", 0,
                       "In text, the unit of times: column (default; one for each column), auto (its own for each "
                       "time), s, ms, us or ns",
                       GROUP_COMMON },
    [SHARED_FULL_NAMES] = { "full-names", KEY(SHARED_FULL_NAMES), NULL, 0,
                            "In text, neither shorten nor cut names and other texts", GROUP_COMMON },
    [SHARED_COLOR] = { "color", KEY(SHARED_COLOR), "WHEN", 0,
                       "Colour text: auto (default; on a terminal, without NO_COLOR), always or never", GROUP_COMMON },
    [SHARED_NO_PAGER] = { "no-pager", KEY(SHARED_NO_PAGER), NULL, 0, "Print long text on a terminal without a pager",
                          GROUP_COMMON },
    [SHARED_CSV_SAFE] = { "csv-safe", KEY(SHARED_CSV_SAFE), NULL, 0,
                          "In csv, put an apostrophe before texts that a spreadsheet would run as formulas",
                          GROUP_COMMON },
    [SHARED_OUTPUT] = { "output", 'o', "FILE", 0, "Write to FILE", GROUP_COMMON },
    [SHARED_RAW] = { "raw", KEY(SHARED_RAW), NULL, 0, "Show times as measured, with the time of the probes in them",
                     GROUP_COMMON },
    [SHARED_NO_MERGE] = { "no-merge", KEY(SHARED_NO_MERGE), NULL, 0,
                          "Show copies of one function apart, which inline functions of headers have in each object",
                          GROUP_COMMON },
    [SHARED_JOBS] = { "jobs", 'j', "N", 0, "Read the session with N threads (default: one a CPU)", GROUP_COMMON },
    [SHARED_STRICT] = { "strict", KEY(SHARED_STRICT), NULL, 0,
                        "Fail if anything is missing from the session: it was lost, damaged or cut off", GROUP_COMMON },
    [SHARED_NO_CONFIG] = { "no-config", KEY(SHARED_NO_CONFIG), NULL, 0, "Ignore the config file", GROUP_COMMON },
    [SHARED_HELP] = { "help", 'h', NULL, 0, "Print this help", GROUP_COMMON },
    [SHARED_HELP_ALL] = { "help-all", KEY(SHARED_HELP_ALL), NULL, 0, "Print all options", GROUP_COMMON },
    [SHARED_PRINT_OPTIONS] = { "print-options", KEY(SHARED_PRINT_OPTIONS), NULL, OPTION_HIDDEN, NULL, GROUP_COMMON },
    [SHARED_PRINT_TEXT] = { "print-text", KEY(SHARED_PRINT_TEXT), NULL, OPTION_HIDDEN, NULL, GROUP_COMMON },
};

static const char *shared_text_with_note(enum shared_option option, const char *note)
{
    static char *texts[SHARED_COUNT];
    free(texts[option]);
    texts[option] = note ? need_text("%s%s%s", shared_table[option].doc, strchr(",;", *note) ? "" : " ", note) : NULL;
    return note ? texts[option] : shared_table[option].doc;
}

static size_t shared_append_one(enum shared_option option, const char *note, struct argp_option *list, size_t count)
{
    list[count] = shared_table[option];
    list[count].doc = shared_text_with_note(option, note);
    return count + 1;
}

/* Where the group has options, but no heading yet. */
static size_t shared_append_heading(int group, const char *text, struct argp_option *list, size_t count)
{
    bool is_used = false;
    for (size_t i = 0; i < count; i++) {
        if (list[i].group == group && !list[i].name)
            return count;
        is_used |= list[i].group == group;
    }
    if (is_used)
        list[count++] = (struct argp_option){ .doc = text, .group = group };
    return count;
}

size_t shared_options_append(const struct shared_use *uses, struct argp_option *list, size_t count)
{
    for (; uses && uses->option != SHARED_END; uses++) {
        static const enum shared_option sets[][2] = {
            [SHARED_PART - SHARED_COUNT] = { SHARED_FROM, SHARED_ROOT },
            [SHARED_CALLS - SHARED_COUNT] = { SHARED_ONLY, SHARED_CALL_DEPTH },
            [SHARED_CALLS_AT_ANY_DEPTH - SHARED_COUNT] = { SHARED_ONLY, SHARED_MIN_DURATION },
            [SHARED_TEXT - SHARED_COUNT] = { SHARED_UNITS, SHARED_NO_PAGER },
        };
        const bool one = uses->option < SHARED_COUNT;
        const enum shared_option first = one ? uses->option : sets[uses->option - SHARED_COUNT][0];
        const enum shared_option last = one ? uses->option : sets[uses->option - SHARED_COUNT][1];
        for (enum shared_option option = first; option <= last; option++)
            count = shared_append_one(option, uses->note, list, count);
    }
    count = shared_append_heading(GROUP_PART, "Part of the session:", list, count);
    count = shared_append_heading(GROUP_CALLS, "Calls (PATTERN as for record; may be repeated):", list, count);
    count = shared_append_heading(GROUP_ROWS, "Rows and columns:", list, count);
    return shared_append_heading(GROUP_COMMON, "Other:", list, count);
}

enum shared_option shared_option_of_key(int key)
{
    for (int i = SHARED_END + 1; i < SHARED_COUNT; i++)
        if (shared_table[i].key == key)
            return (enum shared_option)i;
    return SHARED_END;
}

const char *shared_option_name(enum shared_option option)
{
    return shared_table[option].name;
}

const char *shared_option_words(enum shared_option option)
{
    switch (option) {
    case SHARED_FORMAT:
        return "text csv json";
    case SHARED_UNITS:
        return "column auto s ms us ns";
    case SHARED_COLOR:
        return "auto always never";
    default:
        return NULL;
    }
}

static void shared_read_moment(const char *option, const char *text, struct selection_moment *moment)
{
    struct error error = { NULL };
    if (!selection_moment_parse(option, text, moment, &error))
        die_of(&error);
}

static void shared_add_within(struct selection_names *within, const char *text)
{
    if (!activity_is_valid_name(text) && !within_is_value(text))
        die(STATUS_ERROR, "--within: '%s' is none of marker:WHAT, activity:CLASS and 'FUNCTION: WHAT = VALUE'", text);
    selection_add_name(within, text);
}

static void shared_add_pattern(struct call_filters *filters, enum shared_option option, enum call_action action,
                               const char *text)
{
    struct error error = { NULL };
    const char *const name = option == SHARED_ONLY ? "--only" : option == SHARED_SUPPRESS ? "--suppress" : "--ignore";
    if (!call_filters_add(filters, name, action, text, &error))
        die_of(&error);
}

static uint32_t shared_read_depth(const char *text)
{
    const unsigned long depth = option_number("--depth", text);
    if (depth < 1 || depth > UINT32_MAX)
        die(STATUS_ERROR, "--depth: must be 1 or more");
    return (uint32_t)depth;
}

static bool shared_read_calls(struct call_filters *filters, enum shared_option option, const char *argument)
{
    switch (option) {
    case SHARED_ONLY:
        shared_add_pattern(filters, option, CALL_SHOWN, argument);
        return true;
    case SHARED_SUPPRESS:
        shared_add_pattern(filters, option, CALL_SUPPRESSED, argument);
        return true;
    case SHARED_IGNORE:
        shared_add_pattern(filters, option, CALL_IGNORED, argument);
        return true;
    case SHARED_MIN_DURATION:
        if (strchr(argument, '%')) /* --min is a beginning of --min-duration, where a command has no --min */
            die(STATUS_ERROR,
                "--min-duration: '%s' is a share, and this is a time such as 10us, the shortest calls that are shown; "
                "for rows with a share, see --filter 'elapsed_inclusive_percent>30'",
                argument);
        if (!duration_parse(argument, &filters->shortest))
            die(STATUS_ERROR, "--min-duration: '%s' is not a time such as 500ns, 10us, 2.5ms or 1s", argument);
        return true;
    case SHARED_CALL_DEPTH:
        filters->depth = shared_read_depth(argument);
        return true;
    default:
        return false;
    }
}

static bool shared_read_part(struct selection_request *part, enum shared_option option, const char *argument)
{
    switch (option) {
    case SHARED_FROM:
        shared_read_moment("--from", argument, &part->from);
        return true;
    case SHARED_TO:
        shared_read_moment("--to", argument, &part->to);
        return true;
    case SHARED_WITHIN:
        shared_add_within(&part->within, argument);
        return true;
    case SHARED_THREAD:
        selection_add_name(&part->selection.threads, argument);
        return true;
    case SHARED_PROCESS:
        selection_add_name(&part->selection.processes, argument);
        return true;
    case SHARED_ROOT:
        selection_add_name(&part->roots, argument);
        return true;
    default:
        return false;
    }
}

static void shared_add_filter(struct shared_options *s, const char *text)
{
    struct error error = { NULL };
    if (within_is_filter(text))
        selection_add_name(&s->load.selection.valued, text);
    else if (!row_filters_add(&s->filters, text, &error))
        die(STATUS_ERROR, "--filter: %s", error.text);
}

static void shared_choose_colors(const char *argument)
{
    static const struct {
        const char *name;
        enum terminal_colors when;
    } colors[] = { { "auto", COLORS_AUTO }, { "always", COLORS_ALWAYS }, { "never", COLORS_NEVER } };
    terminal_choose_colors(option_choice("--color", argument, colors)->when);
}

static bool chosen_before; /* colours, before the command: the config file does not change them */

int shared_options_read_before(int argc, char **argv)
{
    static const char color[] = "--color";
    int at = 1;
    for (; at < argc; at++) {
        const size_t length = sizeof color - 1;
        const bool is_color = strcmp(argv[at], color) == 0 && at + 1 < argc;
        if (strcmp(argv[at], "--no-pager") == 0) {
            terminal_refuse_pager();
        } else if (is_color || (strncmp(argv[at], color, length) == 0 && argv[at][length] == '=')) {
            shared_choose_colors(is_color ? argv[++at] : argv[at] + length + 1);
            chosen_before = true;
        } else {
            break;
        }
    }
    return at;
}

void shared_option_read(struct shared_options *s, enum shared_option option, const char *argument)
{
    if (shared_read_part(&s->load.selection, option, argument) ||
        shared_read_calls(&s->load.selection.filters, option, argument))
        return;
    switch (option) {
    case SHARED_FILTER:
        shared_add_filter(s, argument);
        return;
    case SHARED_MIN:
        s->min = option_amount("--min", argument);
        return;
    case SHARED_SORT:
        s->sort = argument;
        return;
    case SHARED_LIMIT:
        s->limit = option_number("--limit", argument);
        return;
    case SHARED_COLUMNS:
        s->columns = argument;
        return;
    case SHARED_VALUE:
        s->value = argument;
        return;
    case SHARED_FORMAT:
        s->print = option_format(argument);
        s->format = argument;
        die_with_json(strcmp(argument, "json") == 0);
        return;
    case SHARED_UNITS:
        if (!text_options_choose_units(argument))
            option_refuse("--units", argument, text_units_words);
        return;
    case SHARED_FULL_NAMES:
        text_options_show_full_names();
        return;
    case SHARED_COLOR:
        if (!chosen_before || !config_place())
            shared_choose_colors(argument);
        return;
    case SHARED_NO_PAGER:
        terminal_refuse_pager();
        return;
    case SHARED_CSV_SAFE:
        csv_text_defuse(true);
        return;
    case SHARED_OUTPUT:
        s->output = argument;
        return;
    case SHARED_RAW:
        s->load.raw = true;
        return;
    case SHARED_NO_MERGE:
        s->load.no_merge = true;
        return;
    case SHARED_JOBS:
        s->load.jobs = option_jobs(argument);
        seal_use_jobs(s->load.jobs);
        return;
    case SHARED_STRICT:
        s->load.strict = true;
        return;
    default:
        return;
    }
}

void shared_options_drop(struct shared_options *s)
{
    selection_request_drop(&s->load.selection);
    row_filters_drop(&s->filters);
}

/* Whether a list of keys has a value that is known of single calls only. */
static bool shared_names_limits(const char *keys)
{
    for (const char *key = keys; key; key = strchr(key, ',') ? strchr(key, ',') + 1 : NULL)
        if (strncmp(key, "min", 3) == 0 || strncmp(key, "max", 3) == 0)
            return true;
    return false;
}

struct analysis_options shared_options_of_load(const struct shared_options *s)
{
    struct analysis_options load = s->load;
    load.limits |= shared_names_limits(s->sort) || shared_names_limits(s->columns);
    load.limits |= s->print != table_print_text && !s->columns;
    for (size_t i = 0; i < s->filters.count; i++)
        load.limits |= shared_names_limits(s->filters.list[i].key);
    load.durations = percentiles_are_named(s->sort) || percentiles_are_named(s->columns);
    for (size_t i = 0; i < s->filters.count; i++)
        load.durations |= percentiles_are_named(s->filters.list[i].key);
    return load;
}

static void shared_options_load_as(struct analysis *analysis, const char *path, const struct shared_options *s,
                                   const struct analysis_options *options)
{
    struct error error = { NULL };
    command_load(analysis, path ? path : DWELL_USUAL_FILE, options);
    if (!session_needs_check_loaded(s->needs, analysis, NULL, &error))
        die_of(&error);
    option_check_times("--min", s->min, analysis->summary.samples, analysis->file->path);
}

void shared_options_load(struct analysis *analysis, const char *path, const struct shared_options *s)
{
    const struct analysis_options options = shared_options_of_load(s);
    shared_options_load_as(analysis, path, s, &options);
}

void shared_options_load_plain(struct analysis *analysis, const char *path, const struct shared_options *s)
{
    shared_options_load_as(analysis, path, s, &s->load);
}

void shared_options_load_moments(struct analysis *analysis, const char *path, const struct shared_options *s)
{
    const struct analysis_options whole = { .jobs = s->load.jobs, .strict = s->load.strict };
    shared_options_load_as(analysis, path, s, &whole);
    analysis->raw = analysis->summary.raw = true;
}

void option_check_times(const char *option, struct amount amount, bool samples, const char *path)
{
    if (samples && amount.ns)
        die(STATUS_ERROR, "%s: holds samples, not times; give %s as a percentage", path, option);
}
