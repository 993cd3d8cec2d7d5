#include "commands/commands.h"
#include "commands/config.h"
#include "commands/selection_options.h"
#include "report/views.h"

enum { OPTION_FORMAT = 256, OPTION_COLUMNS };

static const struct argp_option options[] = {
    { "sort", 's', "COLUMN", 0, "Largest first (default: in the order of time)", 0 },
    { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0 },
    { 0 },
};

struct marks_settings {
    const char *file, *sort, *columns;
    table_printer *print;
    struct row_filters filters;
};

static error_t marks_parse_option(int key, char *argument, struct argp_state *state)
{
    struct marks_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return filter_options_begin(state, &s->filters);
    case 's':
        s->sort = argument;
        return 0;
    case OPTION_COLUMNS:
        s->columns = option_columns_of(argument, view_marks_columns, view_marks_column_count);
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case ARGP_KEY_ARG:
        option_session(state, argument, &s->file);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_marks(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        marks_parse_option,
        "[FILE]",
        "Lists the marks that the program has set (dwell_mark in dwell/dwell.h), in the order of time: since the session "
        "began, and since the mark before.\vExamples:\n"
        "  dwell marks\n"
        "  dwell marks --filter 'text~frame*' --format csv run.data",
        filter_children,
        NULL,
        NULL,
    };
    struct marks_settings s = { .file = DEFAULT_SESSION, .print = table_print_text };
    parse_options_with_config(&argp, "marks", argc, argv, &s);
    struct analysis loaded;
    command_load(&loaded, s.file, &(struct analysis_options){ 0 });
    struct table table = view_marks(&loaded);
    option_filter(&table, &s.filters);
    option_arrange(&table, s.sort, s.columns, true);
    s.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&loaded);
    row_filters_drop(&s.filters);
    return finish_output();
}
