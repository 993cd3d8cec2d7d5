/* dwell histogram and dwell slowest: of one function's single calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/config.h"
#include "commands/selection_options.h"
#include "report/plot.h"
#include "report/views.h"

enum { OPTION_FORMAT = 256, OPTION_OF, OPTION_COLUMNS };
enum { MAX_CALLS = 1000000 };

#define ROW_OPTIONS                                                                                                    \
    { "sort", 's', "COLUMN", 0, "Sort by it, numbers the largest first (default: as they come)", 0 },                  \
        { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },      \
    {                                                                                                                  \
        "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0                                         \
    }

static const struct argp_option histogram_options[] = {
    { "of", OPTION_OF, "TIME", 0,
      "elapsed_inclusive (default), elapsed_exclusive, application_inclusive or application_exclusive", 0 },
    ROW_OPTIONS,
    { 0 },
};

static const struct argp_option slowest_options[] = {
    { "of", OPTION_OF, "TIME", 0,
      "elapsed_inclusive (default), elapsed_exclusive, application_inclusive or application_exclusive", 0 },
    { "limit", 'n', "N", 0, "So many of them (default: 20)", 0 },
    ROW_OPTIONS,
    { 0 },
};

struct single_calls_settings {
    const char *command, *sort, *columns;
    bool is_slowest;
    const char *words[2]; /* FUNCTION, or FILE and FUNCTION */
    int count;
    enum call_time time;
    size_t limit;
    table_printer *print;
    struct analysis_options load;
    struct row_filters filters;
};

static enum call_time single_calls_parse_time(const char *text)
{
    for (int i = 0; i < CALL_TIMES; i++)
        if (strcmp(call_time_names[i], text) == 0)
            return (enum call_time)i;
    option_refuse("--of", text, "elapsed_inclusive, elapsed_exclusive, application_inclusive, application_exclusive");
}

static error_t single_calls_parse_option(int key, char *argument, struct argp_state *state)
{
    struct single_calls_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return selection_options_begin(state, &s->load, &s->filters);
    case OPTION_OF:
        s->time = single_calls_parse_time(argument);
        return 0;
    case 'n':
        s->limit = option_number("--limit", argument);
        if (s->limit < 1 || s->limit > MAX_CALLS)
            die(STATUS_ERROR, "--limit: must be from 1 to 1000000");
        return 0;
    case 's':
        s->sort = argument;
        return 0;
    case OPTION_COLUMNS:
        s->columns = s->is_slowest ? option_columns_of(argument, view_slowest_columns, view_slowest_column_count)
                                   : option_columns_of(argument, view_histogram_columns, view_histogram_column_count);
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case ARGP_KEY_ARG:
        if (s->count == 2)
            die(STATUS_ERROR, "%s: too many arguments: '%s'", s->command, argument);
        s->words[s->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (s->count == 0)
            die(STATUS_ERROR, "%s: which FUNCTION? dwell report lists them", s->command);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static uint32_t single_calls_load(struct analysis *l, struct single_calls_settings *s)
{
    command_load(l, s->count == 2 ? s->words[0] : DEFAULT_SESSION, &s->load);
    if (l->file->header.mode == DWELL_MODE_PROFILE)
        die(STATUS_ERROR, "%s: recorded in mode profile, which keeps no single calls", l->file->path);
    if (s->time >= CALL_APPLICATION_INCLUSIVE && !l->summary.application_known)
        die(STATUS_ERROR, "%s: application times are unknown: there was no source of OS events", l->file->path);
    return option_function(l, s->words[s->count - 1]);
}

static void single_calls_print_exact(const struct histogram *h, const char *function, const char *selection,
                                     enum call_time time)
{
    printf("%s%s%s: %" PRIu64 " completed calls, %s in us:\n", function, selection ? ", " : "",
           selection ? selection : "", h->count, call_time_names[time]);
    printf("min %.3f, mean %.3f, median %.3f, 90 %% %.3f, 99 %% %.3f, max %.3f\n\n", (double)h->least / 1e3,
           histogram_mean(h) / 1e3, (double)histogram_percentile(h, 50) / 1e3,
           (double)histogram_percentile(h, 90) / 1e3, (double)histogram_percentile(h, 99) / 1e3,
           (double)h->greatest / 1e3);
}

int command_histogram(int argc, char **argv)
{
    static const struct argp argp = {
        histogram_options,
        single_calls_parse_option,
        "[FILE] FUNCTION",
        "Shows how long the single calls of a function took.\vA call is counted when it was entered and left while "
        "recorded. FUNCTION is as for dwell callers.\n\nExamples:\n"
        "  dwell histogram parse\n"
        "  dwell histogram --of application_exclusive --format csv parse",
        selection_children,
        NULL,
        NULL,
    };
    struct single_calls_settings s = { .command = "histogram", .print = table_print_text };
    parse_options_with_config(&argp, "histogram", argc, argv, &s);
    struct analysis l;
    const uint32_t function = single_calls_load(&l, &s);
    struct histogram exact;
    struct table table = view_histogram(&l, function, s.time, plot_has_blocks(), &exact);
    option_filter(&table, &s.filters);
    option_arrange(&table, s.sort, s.columns, true);
    if (s.print == table_print_text)
        single_calls_print_exact(&exact, l.names[function].name, l.summary.selection, s.time);
    s.print(&table, stdout);
    table_drop(&table);
    histogram_drop(&exact);
    analysis_drop(&l);
    selection_request_drop(&s.load.selection);
    row_filters_drop(&s.filters);
    return finish_output();
}

int command_slowest(int argc, char **argv)
{
    static const struct argp argp = {
        slowest_options,
        single_calls_parse_option,
        "[FILE] FUNCTION",
        "Lists the slowest calls of a function, and when they happened.\vTIME is from the start of the session to the "
        "call's enter. FUNCTION is as for dwell callers.\n\nExamples:\n"
        "  dwell slowest parse\n"
        "  dwell slowest -n 5 --from 1s --to 2s run.data parse",
        selection_children,
        NULL,
        NULL,
    };
    struct single_calls_settings s = {
        .command = "slowest", .is_slowest = true, .limit = 20, .print = table_print_text
    };
    parse_options_with_config(&argp, "slowest", argc, argv, &s);
    struct analysis l;
    const uint32_t function = single_calls_load(&l, &s);
    struct table table = view_slowest(&l, function, s.time, s.filters.count ? MAX_CALLS : s.limit);
    option_filter(&table, &s.filters);
    table_limit(&table, s.limit);
    table.hidden_rows = 0; /* as many were asked for */
    option_arrange(&table, s.sort, s.columns, true);
    s.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&l);
    selection_request_drop(&s.load.selection);
    row_filters_drop(&s.filters);
    return finish_output();
}
