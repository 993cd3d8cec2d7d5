#include "commands/commands.h"
#include "commands/config.h"
#include "commands/selection_options.h"
#include "commands/sessions.h"
#include "report/views.h"

enum {
    OPTION_MIN = 256,
    OPTION_DEPTH,
    OPTION_FORMAT,
    OPTION_BY_THREAD,
    OPTION_COLUMNS,
    OPTION_COLLAPSE,
    OPTION_FOLD_RECURSION,
    OPTION_BY,
};

static const struct argp_option options[] = {
    { "min", OPTION_MIN, "PERCENT", 0, "Fold branches below it (default: 1; 0: none)", 0 },
    { "depth", OPTION_DEPTH, "N", 0, "Fold what is deeper (default: 40)", 0 },
    { "by", OPTION_BY, "line", 0, "Tell calls from different lines apart, and show the lines (record --call-sites)",
      0 },
    { "by-thread", OPTION_BY_THREAD, NULL, 0, "A tree for each thread", 0 },
    { "collapse", OPTION_COLLAPSE, "PERCENT", OPTION_ARG_OPTIONAL,
      "Show functions with a single callee, and no more than PERCENT of own time (default: 1), in one row with it", 0 },
    { "fold-recursion", OPTION_FOLD_RECURSION, NULL, 0, "Show functions once a path, and how deep they recursed", 0 },
    { "sort", 's', "COLUMN", 0, "Branches of one path: largest first (default: elapsed_inclusive); or name", 0 },
    { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0 },
    { 0 },
};

struct tree_settings {
    struct session_list sessions;
    struct tree_options tree;
    bool min_given;
    const char *columns, *sort; /* NULL: the usual ones */
    table_printer *print;
    struct analysis_options load;
    struct row_filters filters;
};

static error_t tree_parse_option(int key, char *argument, struct argp_state *state)
{
    struct tree_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return selection_options_begin(state, &s->load, &s->filters);
    case OPTION_MIN:
        s->tree.min_percent = option_percent("--min", argument);
        s->min_given = true;
        return 0;
    case OPTION_DEPTH:
        s->tree.depth = (unsigned)option_number("--depth", argument);
        return 0;
    case OPTION_BY_THREAD:
        s->tree.by_thread = true;
        return 0;
    case OPTION_BY:
        option_by_line(argument);
        s->tree.by_line = true;
        s->load.lines = LINES_NEEDED;
        return 0;
    case OPTION_COLLAPSE:
        s->tree.collapse = true;
        s->tree.own_percent = argument ? option_percent("--collapse", argument) : 1;
        return 0;
    case OPTION_FOLD_RECURSION:
        s->tree.fold_recursion = true;
        return 0;
    case 's':
        s->sort = option_sort(argument, false);
        return 0;
    case OPTION_COLUMNS:
        s->columns = option_columns(argument);
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case ARGP_KEY_ARG:
        session_list_add(&s->sessions, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_tree(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        tree_parse_option,
        "[FILE...]",
        "Shows the call paths of a session (dwell.data), or of several, with their four times, the largest first.\v"
        "A star marks the hot path: it follows the largest child while that has at least half of its "
        "parent's elapsed inclusive time. In imported samples, w marks functions that are known to wait; they are never hot.\n\nExamples:\n"
        "  dwell tree\n"
        "  dwell tree --min 5 --collapse --fold-recursion\n"
        "  dwell tree --root parse --filter 'elapsed_exclusive>1ms'",
        selection_children,
        NULL,
        NULL,
    };
    struct tree_settings s = {
        .tree = { .min_percent = 1, .depth = 40 },
        .print = table_print_text,
    };
    parse_options_with_config(&argp, "tree", argc, argv, &s);
    if (s.filters.count) {
        s.tree.unfolded = true;
        if (!s.min_given)
            s.tree.min_percent = 0; /* any path may lead to what is looked for */
    }
    struct analysis loaded;
    session_list_load(&s.sessions, &loaded, &s.load);
    struct table table = view_tree(&loaded, &s.tree);
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
