#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/selection_options.h"
#include "commands/sessions.h"
#include "report/diff.h"

enum { OPTION_FORMAT = 256, OPTION_BY, OPTION_COLUMNS, OPTION_MIN, OPTION_LARGE, OPTION_FAIL };

static const struct argp_option options[] = {
    { "by", OPTION_BY, "WHAT", 0, "A row for each function (default), module or call path (path)", 0 },
    { "sort", 's', "VALUE", 0, "Largest change first (default: of elapsed_exclusive); or name", 0 },
    { "limit", 'n', "N", 0, "At most N rows (default: 40 in text, all in csv and json; 0: all)", 0 },
    { "min", OPTION_MIN, "PERCENT", 0, "Leave out rows with less of the elapsed inclusive time on both sides", 0 },
    { "large", OPTION_LARGE, "PERCENT", 0, "Of the session's time: changes that are marked as large (default: 1)", 0 },
    { "fail-if", OPTION_FAIL, "CONDITION", 0,
      "Exit status 1 if it holds for a row: 'calls > +0', 'cpu_exclusive > +10%', 'elapsed_inclusive < -5ms'", 0 },
    { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0 },
    { 0 },
};

enum { TEXT_LIMIT = 40 };

struct diff_settings {
    struct session_list sides[DIFF_SIDES];
    enum diff_side side; /* being parsed */
    enum diff_by by;
    struct diff_options diff;
    bool limited;
    struct diff_gate *gates;
    size_t gate_count, gate_room;
    const char *columns; /* NULL: the usual ones */
    table_printer *print;
    struct analysis_options load;
};

static enum diff_by diff_parse_by(const char *text)
{
    static const char *const names[] = { "function", "module", "path" };
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], text) == 0)
            return (enum diff_by)i;
    option_refuse("--by", text, "function, module, path");
}

static enum diff_value diff_parse_sort(const char *text)
{
    const enum diff_value value = diff_value_named(text, strlen(text));
    if (value == DIFF_VALUES && strcmp(text, "name") != 0)
        die(STATUS_ERROR, "--sort: no value '%s'%s --columns help lists them", text,
            suggestion(text, diff_value_names, DIFF_VALUES, ";"));
    return value;
}

static void diff_add_gate(struct diff_settings *s, const char *text)
{
    const char *problem;
    GROW(s->gates, s->gate_count, s->gate_room);
    if (!diff_gate_parse(&s->gates[s->gate_count++], text, &problem))
        die(STATUS_ERROR, "--fail-if '%s': %s", text, problem);
}

static error_t diff_parse_option(int key, char *argument, struct argp_state *state)
{
    struct diff_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return raw_options_begin(state, &s->load);
    case OPTION_BY:
        s->by = diff_parse_by(argument);
        return 0;
    case 's':
        s->diff.sort = diff_parse_sort(argument);
        return 0;
    case 'n':
        s->diff.limit = option_number("--limit", argument);
        s->limited = true;
        return 0;
    case OPTION_MIN:
        s->diff.min_percent = option_percent("--min", argument);
        return 0;
    case OPTION_LARGE:
        s->diff.large_percent = option_percent("--large", argument);
        return 0;
    case OPTION_FAIL:
        diff_add_gate(s, argument);
        return 0;
    case OPTION_COLUMNS:
        if (strcmp(argument, "help") == 0) {
            view_diff_list_columns(stdout);
            exit(finish_output());
        }
        s->columns = argument;
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case ARGP_KEY_ARG:
        session_list_add(&s->sides[s->side], argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The sessions of before, a --, and those of after; or one of each. Options may stand on both sides. */
static void diff_parse_sides(struct diff_settings *s, const struct argp *argp, int argc, char **argv)
{
    int middle = 1;
    while (middle < argc && strcmp(argv[middle], "--") != 0)
        middle++;
    parse_options_with_config(argp, "diff", middle, argv, s);
    struct session_list *before = &s->sides[DIFF_BEFORE], *after = &s->sides[DIFF_AFTER];
    if (middle < argc) {
        s->side = DIFF_AFTER;
        parse_options(argp, "diff", argc - middle, argv + middle, s);
    } else if (before->count == 2) {
        GROW(after->paths, after->count, after->room);
        after->paths[after->count++] = before->paths[--before->count];
    } else if (before->count > 2) {
        die(STATUS_ERROR, "diff: of %zu sessions, which are before and which after? Write -- between them",
            before->count);
    }
    session_list_unique(before);
    session_list_unique(after);
    if (!before->count || !after->count)
        die(STATUS_ERROR, "diff: needs a session of before and one of after");
}

static void diff_load_side(const struct diff_settings *s, struct diff *d, enum diff_side side)
{
    for (size_t i = 0; i < s->sides[side].count; i++) {
        struct error error = { NULL };
        struct analysis loaded;
        command_load(&loaded, s->sides[side].paths[i], &s->load);
        if (!diff_add(d, side, &loaded, &error))
            die_of(&error);
        analysis_drop(&loaded);
    }
}

/* ---- what is printed ---- */

static void diff_print_text(const struct diff_settings *s, const struct diff *d, struct table *rows)
{
    struct table sessions = view_diff_sessions(d);
    char *usual = view_diff_usual_columns(d, &s->diff), *judgement = diff_judgement(d, &s->diff);
    if (!s->columns)
        option_choose(rows, usual);
    table_print_text(&sessions, stdout);
    for (size_t i = 0; i < d->remark_count; i++)
        printf("! %s\n", d->remarks[i]);
    printf("\n%s %s\n\n", s->diff.sort == DIFF_CALLS || diff_is_tested(d) ? "*" : "~", judgement);
    table_print_text(rows, stdout);
    table_drop(&sessions);
    free(usual);
    free(judgement);
}

static void diff_print_json(const struct diff_settings *s, const struct diff *d, const struct table *rows)
{
    struct table sessions = view_diff_sessions(d), remarks = view_diff_remarks(d);
    char *judgement = diff_judgement(d, &s->diff);
    printf("{\"judged\": \"%s\",\n ", judgement);
    table_print_json_rows(&sessions, "sessions", stdout);
    fputs(",\n ", stdout);
    table_print_json_rows(&remarks, "remarks", stdout);
    fputs(",\n ", stdout);
    table_print_json_rows(rows, "rows", stdout);
    fputs("}\n", stdout);
    table_drop(&remarks);
    table_drop(&sessions);
    free(judgement);
}

static void diff_print_result(const struct diff_settings *s, const struct diff *d)
{
    struct table rows = view_diff(d, &s->diff, s->print == table_print_text);
    if (s->columns)
        option_choose(&rows, s->columns);
    if (s->print == table_print_text)
        diff_print_text(s, d, &rows);
    else if (s->print == table_print_json)
        diff_print_json(s, d, &rows);
    else
        s->print(&rows, stdout);
    table_drop(&rows);
}

/* On standard error; where people read behind a pager, behind the table. */
static bool diff_report_gates(const struct diff_settings *s, const struct diff *d)
{
    FILE *out = terminal_is_paged() && s->print == table_print_text ? stdout : stderr;
    bool failed = false;
    if (out == stderr)
        fflush(stdout);
    for (size_t i = 0; i < s->gate_count; i++)
        failed |= diff_gate_report(&s->gates[i], d, out) > 0;
    return failed;
}

int command_diff(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        diff_parse_option,
        "BEFORE AFTER\nBEFORE... -- AFTER...",
        "Compares sessions, function by function: calls, the four times, and time on the CPU.\v"
        "Functions are matched by the file name of their module and their own name. Several sessions on a side count "
        "as their "
        "mean; with two or more on both, times are tested, and only significant changes can fail --fail-if. "
        "Calls are compared exactly. docs/diff.md has the formulas.\n\nExamples:\n"
        "  dwell diff before.data after.data\n"
        "  dwell diff --by path --sort calls before.data after.data\n"
        "  dwell diff old-*.data -- new-*.data --fail-if 'application_exclusive > +10%'",
        raw_config_children,
        NULL,
        NULL,
    };
    struct diff_settings s = {
        .diff = { .sort = DIFF_ELAPSED_EXCLUSIVE, .large_percent = 1 },
        .print = table_print_text,
    };
    diff_parse_sides(&s, &argp, argc, argv);
    if (!s.limited && s.print == table_print_text)
        s.diff.limit = TEXT_LIMIT;
    struct diff *d = diff_new(s.by);
    diff_load_side(&s, d, DIFF_BEFORE);
    diff_load_side(&s, d, DIFF_AFTER);
    for (size_t i = 0; i < s.gate_count; i++)
        if (diff_gate_check(&s.gates[i], d))
            die(STATUS_ERROR, "--fail-if '%s': %s", s.gates[i].text, diff_gate_check(&s.gates[i], d));
    if (s.diff.sort < DIFF_VALUES && !d->known[s.diff.sort])
        die(STATUS_ERROR, "--sort: %s is not known of all these sessions", diff_value_names[s.diff.sort]);
    diff_judge(d, &s.diff);
    diff_print_result(&s, d);
    const bool failed = diff_report_gates(&s, d);
    const int written = finish_output();
    const int status = written == STATUS_OK && failed ? STATUS_FINDING : written;
    diff_free(d);
    free(s.gates);
    for (int side = 0; side < DIFF_SIDES; side++)
        session_list_drop(&s.sides[side]);
    return status;
}
