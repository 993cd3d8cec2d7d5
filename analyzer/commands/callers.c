#include <stdlib.h>

#include "base/message.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/slice_options.h"
#include "profile/collect.h"
#include "report/views.h"

enum { OPTION_FORMAT = 256, OPTION_COLUMNS };

static const struct argp_option options[] = {
    { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0 },
    { 0 },
};

struct settings {
    const char *words[2]; /* FUNCTION, or FILE and FUNCTION */
    int count;
    const char *columns; /* NULL: the usual ones */
    table_printer *print;
    struct slice_request slice;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return slice_options_begin(state, &s->slice);
    case OPTION_COLUMNS:
        s->columns = option_columns(argument);
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case ARGP_KEY_ARG:
        if (s->count == 2)
            die(STATUS_ERROR, "callers: too many arguments: '%s'", argument);
        s->words[s->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (s->count == 0)
            die(STATUS_ERROR, "callers: which FUNCTION? dwell report lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_callers(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "[FILE] FUNCTION",
        "Shows a function of a session (dwell.data) between its callers and its callees.\v"
        "A caller's times are the function's own when it was called from there, a callee's are its own when "
        "it was called from the function. SHARE is elapsed inclusive time in percent of the function's. "
        "FUNCTION is a whole name, a C++ name without its parameters, or a part that only one name has.",
        slice_children, NULL, NULL,
    };
    struct settings s = { .print = table_print_text };
    parse_options_with_config(&argp, "callers", argc, argv, &s);
    struct loaded loaded;
    slice_options_load(&loaded, s.count == 2 ? s.words[0] : DEFAULT_SESSION, collect_default_jobs(), &s.slice);
    struct table table = view_callers(&loaded, option_function(&loaded, s.words[s.count - 1]));
    table_filter(&table, &s.slice.filters);
    if (s.columns)
        table_choose(&table, s.columns);
    s.print(&table, stdout);
    table_drop(&table);
    unload_session(&loaded);
    slice_request_drop(&s.slice);
    return finish_output();
}
