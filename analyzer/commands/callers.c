#include <stdlib.h>

#include "commands/commands.h"
#include "commands/config.h"
#include "commands/selection_options.h"
#include "commands/sessions.h"
#include "report/views.h"

enum { OPTION_FORMAT = 256, OPTION_COLUMNS, OPTION_BY };

static const struct argp_option options[] = {
    { "sort", 's', "COLUMN", 0, "Callers and callees: largest first (default: elapsed_inclusive); or name", 0 },
    { "by", OPTION_BY, "line", 0, "A row for each line that calls are made from (record --call-sites)", 0 },
    { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0 },
    { 0 },
};

struct callers_settings {
    struct session_list sessions;
    const char *function;       /* the last word; those before are files */
    const char *columns, *sort; /* NULL: the usual ones */
    table_printer *print;
    struct analysis_options load;
    struct row_filters filters;
};

static error_t callers_parse_option(int key, char *argument, struct argp_state *state)
{
    struct callers_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return selection_options_begin(state, &s->load, &s->filters);
    case 's':
        s->sort = option_sort(argument, false);
        return 0;
    case OPTION_BY:
        option_by_line(argument);
        s->load.lines = LINES_NEEDED;
        return 0;
    case OPTION_COLUMNS:
        s->columns = option_columns(argument);
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case ARGP_KEY_ARG:
        if (s->function)
            session_list_add(&s->sessions, s->function);
        s->function = argument;
        return 0;
    case ARGP_KEY_END:
        if (!s->function)
            die(STATUS_ERROR, "callers: which FUNCTION? dwell report lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_callers(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        callers_parse_option,
        "[FILE...] FUNCTION",
        "Shows a function of a session (dwell.data), or of several, between its callers and its callees.\v"
        "A caller's times are the function's own when it was called from there, a callee's are its own when "
        "it was called from the function. SHARE is elapsed inclusive time in percent of the function's. "
        "FUNCTION is a whole name, a C++ name without its parameters, or a part that only one name has.\n\nExamples:\n"
        "  dwell callers parse\n"
        "  dwell callers run.data read@libc.so.6\n"
        "  dwell callers --process worker 'ns::Class::method'",
        selection_children,
        NULL,
        NULL,
    };
    struct callers_settings s = { .print = table_print_text };
    parse_options_with_config(&argp, "callers", argc, argv, &s);
    struct analysis loaded;
    session_list_load(&s.sessions, &loaded, &s.load);
    struct table table = view_callers(&loaded, option_function(&loaded, s.function));
    option_filter(&table, &s.filters);
    option_arrange(&table, s.sort, s.columns, false);
    s.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&loaded);
    selection_request_drop(&s.load.selection);
    row_filters_drop(&s.filters);
    session_list_drop(&s.sessions);
    return finish_output();
}
