#include <string.h>

#include "commands/commands.h"
#include "commands/config.h"
#include "commands/selection_options.h"
#include "commands/sessions.h"
#include "report/views.h"

enum { OPTION_JOBS = 256, OPTION_FORMAT, OPTION_BY, OPTION_COLUMNS, OPTION_HOT };

static const struct argp_option options[] = {
    { "by", OPTION_BY, "WHAT", 0,
      "A row for each function (default), line (that calls were made from), module, module-function (modules with their functions below), thread, thread-name or process",
      0 },
    { "sort", 's', "COLUMN", 0, "Largest first (default: elapsed_exclusive; of lines elapsed_inclusive); or name", 0 },
    { "limit", 'n', "N", 0, "At most N rows (default: 40 in text, all in csv and json; 0: all)", 0 },
    { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },
    { "hot", OPTION_HOT, NULL, 0, "What can be made faster: sorted by exclusive time on the CPU", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0 },
    { "jobs", OPTION_JOBS, "N", 0, "Threads that read the session (default: one a CPU)", 0 },
    { 0 },
};

enum { TEXT_LIMIT = 40 };

typedef struct table table_view(const struct analysis *l);

struct report_settings {
    struct session_list sessions;
    enum rollup_by by;
    table_view *view; /* NULL: view_rows */
    struct sorting sorting;
    bool limited;
    const char *columns; /* NULL: the usual ones */
    table_printer *print;
    struct analysis_options load;
    struct row_filters filters;
};

static const char hot_columns[] = "calls,cpu_exclusive,cpu_inclusive,elapsed_exclusive,waiting_percent";

static void report_parse_by(struct report_settings *s, const char *text)
{
    static const struct {
        const char *name;
        enum rollup_by by;
        table_view *view;
    } ways[] = {
        { "function", BY_FUNCTION, NULL },
        { "module", BY_MODULE, NULL },
        { "thread", BY_THREAD, NULL },
        { "process", BY_PROCESS, NULL },
        { "thread-name", BY_THREAD, view_thread_names },
        { "module-function", BY_MODULE, view_module_functions },
        { "line", BY_LINE, view_lines },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, text) == 0) {
            s->by = ways[i].by;
            s->view = ways[i].view;
            return;
        }
    }
    option_refuse("--by", text, "function, line, module, module-function, thread, thread-name, process");
}

static error_t report_parse_option(int key, char *argument, struct argp_state *state)
{
    struct report_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return selection_options_begin(state, &s->load, &s->filters);
    case OPTION_BY:
        report_parse_by(s, argument);
        return 0;
    case 's':
        s->sorting.key = option_sort(argument, false);
        return 0;
    case 'n':
        s->sorting.limit = option_number("--limit", argument);
        s->limited = true;
        return 0;
    case OPTION_COLUMNS:
        s->columns = option_columns(argument);
        return 0;
    case OPTION_HOT:
        s->sorting.key = "cpu_exclusive";
        if (!s->columns)
            s->columns = hot_columns;
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case OPTION_JOBS:
        s->load.jobs = option_jobs(argument);
        return 0;
    case ARGP_KEY_ARG:
        session_list_add(&s->sessions, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_report(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        report_parse_option,
        "[FILE...]",
        "Reports the four times of each function, line, module, thread or process of a session (dwell.data), or of several.\v"
        "The columns: elapsed inclusive and exclusive, application inclusive and exclusive. Percentages of "
        "elapsed times are of the session's elapsed inclusive time, those of application times of its "
        "application inclusive time.\n\nExamples:\n"
        "  dwell report\n"
        "  dwell report --by module --sort calls -n 10\n"
        "  dwell report --columns calls,elapsed_inclusive --filter 'name~parse*'\n"
        "  dwell report --from mark:loaded --thread 'worker*' run.data\n"
        "  dwell report --format csv run-*.data",
        selection_children,
        NULL,
        NULL,
    };
    struct report_settings s = {
        .by = BY_FUNCTION,
        .print = table_print_text,
    };
    parse_options_with_config(&argp, "report", argc, argv, &s);
    s.load.lines = s.by == BY_LINE ? LINES_NEEDED : LINES_NONE;
    if (!s.sorting.key)
        s.sorting.key = s.by == BY_LINE ? "elapsed_inclusive" : "elapsed_exclusive";
    if (!s.limited && s.print == table_print_text)
        s.sorting.limit = TEXT_LIMIT;
    s.sorting.calls = view_needs_calls(s.sorting.key) || (s.columns && view_needs_calls(s.columns));
    s.sorting.filters = &s.filters;
    for (size_t i = 0; i < s.filters.count; i++)
        s.sorting.calls |= view_needs_calls(s.filters.list[i].key);
    if (s.sorting.calls && s.by != BY_FUNCTION)
        die(STATUS_ERROR, "--by: columns of single calls are there for functions alone");
    session_list_unique(&s.sessions);
    if (s.sorting.calls && s.sessions.count > 1)
        die(STATUS_ERROR, "--columns: columns of single calls are there for one session at a time");
    struct analysis loaded;
    session_list_load(&s.sessions, &loaded, &s.load);
    struct table table = s.view ? s.view(&loaded) : view_rows(&loaded, s.by, &s.sorting);
    option_order(&table, &s.sorting);
    if (s.columns)
        option_choose(&table, s.columns);
    s.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&loaded);
    selection_request_drop(&s.load.selection);
    row_filters_drop(&s.filters);
    session_list_drop(&s.sessions);
    return finish_output();
}
