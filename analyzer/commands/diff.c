/* dwell diff: reads its options, loads the sessions before and after a change, and prints how functions, modules or
 * call paths differ. The conditions of --fail-if set the exit status. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/sessions.h"
#include "report/diff_formats.h"

enum { OPTION_BY = 256, OPTION_LARGE, OPTION_FAIL };

static const struct argp_option options[] = {
    { "by", OPTION_BY, "WHAT", 0, "A row for each function (default), module or call path (path)", 0 },
    { "large", OPTION_LARGE, "AMOUNT", 0, "Mark changes of at least AMOUNT of the session's time (default: 1%)", 0 },
    { "fail-if", OPTION_FAIL, "CONDITION", 0,
      "Exit with status 1 if a row meets it: 'calls > +0', 'cpu_exclusive > +10%', 'elapsed_inclusive < -5ms'; may be "
      "repeated",
      0 },
    { 0 },
};

static const struct shared_use shared[] = {
    { SHARED_CALLS, NULL },
    { SHARED_MIN, "of elapsed inclusive time, on both sides" },
    { SHARED_SORT, "(default: elapsed_exclusive); the largest change first" },
    { SHARED_LIMIT, "(default: 40 in text)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, "; also markdown (a comment), github (annotations of a workflow) or junit (XML)" },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_END, NULL },
};

enum { TEXT_LIMIT = 40 };

struct diff_settings {
    struct shared_options shared;
    struct session_list sides[DIFF_SIDES];
    enum diff_side side; /* being parsed */
    enum diff_by by;
    struct diff_options diff;
    struct diff_gate *gates;
    size_t gate_count, gate_room;
    diff_printer *print; /* of a format for continuous integration; NULL for the common formats */
    struct diff_sources sources;
};

static enum diff_value diff_parse_sort(const char *text)
{
    const enum diff_value value = diff_value_named(text, strlen(text));
    const char *names[DIFF_VALUES];
    for (enum diff_value i = 0; i < DIFF_VALUES; i++)
        names[i] = diff_value_name(i);
    if (value == DIFF_VALUES && strcmp(text, "name") != 0)
        die(STATUS_ERROR, "--sort: no value '%s'%s --columns help lists them", text,
            suggestion(text, names, DIFF_VALUES, ";"));
    return value;
}

static void diff_add_gate(struct diff_settings *s, const char *text)
{
    struct error error = { NULL };
    GROW(s->gates, s->gate_count, s->gate_room);
    if (!diff_gate_parse(&s->gates[s->gate_count++], text, &error))
        die(STATUS_ERROR, "--fail-if '%s': %s", text, error.text);
}

static error_t diff_parse_option(int key, char *argument, struct argp_state *state)
{
    struct diff_settings *s = state->input;
    switch (key) {
    case OPTION_BY:
        s->by = (enum diff_by)option_choice("--by", argument, "function, module, path");
        return 0;
    case OPTION_LARGE:
        s->diff.large = option_amount("--large", argument);
        return 0;
    case OPTION_FAIL:
        diff_add_gate(s, argument);
        return 0;
    case ARGP_KEY_ARG:
        session_list_add(&s->sides[s->side], argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The printer of a format that only comparisons have. */
static diff_printer *diff_format(const char *name)
{
    static const struct {
        const char *name;
        diff_printer *print;
    } formats[] = { { "markdown", diff_print_markdown },
                    { "github", diff_print_github },
                    { "junit", diff_print_junit } };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0)
            return formats[i].print;
    if (!table_format(name))
        option_refuse("--format", name, "text, csv, json, markdown, github, junit");
    return NULL;
}

static bool diff_read_shared(void *settings, enum shared_option option, const char *argument)
{
    struct diff_settings *s = settings;
    if (option == SHARED_FORMAT && (s->print = diff_format(argument)))
        return true;
    if (option == SHARED_SORT)
        s->diff.sort = diff_parse_sort(argument);
    if (option == SHARED_COLUMNS && strcmp(argument, "help") == 0) {
        view_diff_list_columns(stdout);
        exit(finish_output());
    }
    return false;
}

static const struct command_line line = {
    .name = "diff",
    .arguments = "BEFORE AFTER\nBEFORE... -- AFTER...",
    .text = "Compares sessions from before and after a change: calls, the four times, and time on the CPU.\v"
            "Functions are matched by the file name of their module and their own name. Several sessions on a side "
            "count as their mean. With two or more on both sides, times are tested, and only significant changes can "
            "fail --fail-if. Calls are compared exactly. docs/diff.md has the formulas.\n\nExamples:\n"
            "  dwell diff before.data after.data\n"
            "  dwell diff --by path --sort calls before.data after.data\n"
            "  dwell diff old-*.data -- new-*.data --fail-if 'application_exclusive > +10%'\n"
            "  dwell diff old-*.data -- new-*.data --format markdown > comment.md",
    .options = options,
    .parse = diff_parse_option,
    .shared = shared,
    .read_shared = diff_read_shared,
};

/* Parses the sessions of before, a --, and those of after; or one of each. Options may stand on both sides. */
static void diff_parse_sides(struct diff_settings *s, int argc, char **argv)
{
    int middle = 1;
    while (middle < argc && strcmp(argv[middle], "--") != 0)
        middle++;
    command_line_parse(&line, middle, argv, s, &s->shared);
    struct session_list *before = &s->sides[DIFF_BEFORE], *after = &s->sides[DIFF_AFTER];
    if (middle < argc) {
        s->side = DIFF_AFTER;
        command_line_parse_more(&line, argc - middle, argv + middle, s, &s->shared);
    } else if (before->count == 2) {
        GROW(after->paths, after->count, after->room);
        after->paths[after->count++] = before->paths[--before->count];
    } else if (before->count > 2) {
        die(STATUS_ERROR, "diff: %zu sessions: write -- between those of before and those of after", before->count);
    }
    session_list_unique(before);
    session_list_unique(after);
    if (!before->count || !after->count)
        die(STATUS_ERROR, "diff: give a session of before and one of after");
}

/* The patterns of filters need not match in both sides. */
static void diff_check_filters(const struct diff_settings *s)
{
    struct error error = { NULL };
    if (!call_filters_check(&s->shared.load.selection.filters, "all sessions", &error))
        die_of(&error);
}

static void diff_load_side(struct diff_settings *s, struct diff *d, enum diff_side side)
{
    for (size_t i = 0; i < s->sides[side].count; i++) {
        struct error error = { NULL };
        struct analysis loaded;
        command_load(&loaded, s->sides[side].paths[i], &s->shared.load);
        if (!diff_add(d, side, &loaded, &error))
            die_of(&error);
        if (s->print)
            diff_sources_add(&s->sources, d, &loaded);
        analysis_drop(&loaded);
    }
}

/* ---- output ---- */

/* Prints one line instead of rows without changes, unless the user chose their columns. */
static void diff_print_equal(const struct diff_settings *s, const struct diff *d)
{
    static const char *const kinds[] = {
        [DIFF_FUNCTIONS] = "function", [DIFF_MODULES] = "module", [DIFF_PATHS] = "call path"
    };
    printf("\nno difference: all compared values of %zu %s%s are equal\n", d->row_count, kinds[s->by],
           d->row_count == 1 ? "" : "s");
}

static void diff_print_rows(const struct diff_settings *s, const struct table *rows)
{
    const char *optional[MAX_DIFF_OPTIONAL];
    struct table fitting = *rows;
    view_diff_optional_columns(&s->diff, optional);
    if (!s->shared.columns)
        fitting.optional = optional;
    table_print_text(&fitting, stdout);
}

static void diff_print_text(const struct diff_settings *s, const struct diff *d, struct table *rows)
{
    struct table sessions = view_diff_sessions(d);
    char *usual = view_diff_usual_columns(d, &s->diff), *judgement = diff_judgement(d, &s->diff);
    if (!s->shared.columns)
        option_choose(rows, usual);
    table_print_text(&sessions, stdout);
    for (size_t i = 0; i < d->remark_count; i++)
        print_text(stdout, "! %s\n", d->remarks[i]);
    if (diff_is_equal(d) && !s->shared.columns) {
        diff_print_equal(s, d);
        table_drop(&sessions);
        free(usual);
        free(judgement);
        return;
    }
    print_text(stdout, "\n%s %s\n\n", s->diff.sort == DIFF_CALLS || diff_is_tested(d) ? "*" : "~", judgement);
    diff_print_rows(s, rows);
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
    if (s->print) {
        s->print(&(struct diff_output){ d, &s->diff, s->gates, s->gate_count, &s->sources }, stdout);
        return;
    }
    struct table rows = view_diff(d, &s->diff, s->shared.print == table_print_text);
    if (s->shared.columns)
        option_choose(&rows, s->shared.columns);
    if (s->shared.print == table_print_text)
        diff_print_text(s, d, &rows);
    else if (s->shared.print == table_print_json)
        diff_print_json(s, d, &rows);
    else
        s->shared.print(&rows, stdout);
    table_drop(&rows);
}

/* Prints on standard error; with a pager, after the table. Returns whether a condition is met. */
static bool diff_report_gates(const struct diff_settings *s, const struct diff *d)
{
    FILE *out = terminal_is_paged() && s->shared.print == table_print_text ? stdout : stderr;
    bool failed = false;
    if (out == stderr)
        fflush(stdout);
    for (size_t i = 0; i < s->gate_count; i++)
        failed |= diff_gate_report(&s->gates[i], d, out) > 0;
    return failed;
}

/* Ends the program if the sessions lack a value that the options name. */
static void diff_check_sessions(const struct diff_settings *s, const struct diff *d)
{
    const char *first = s->sides[DIFF_BEFORE].paths[0];
    for (size_t i = 0; i < s->gate_count; i++)
        if (diff_gate_check(&s->gates[i], d))
            die(STATUS_ERROR, "--fail-if '%s': %s", s->gates[i].text, diff_gate_check(&s->gates[i], d));
    if (s->diff.sort < DIFF_VALUES && !d->known[s->diff.sort])
        die(STATUS_ERROR, "--sort: some of these sessions do not have %s", diff_value_name(s->diff.sort));
    shared_options_check_min(&s->shared, d->samples, first);
    if (d->samples && s->diff.large.ns)
        die(STATUS_ERROR, "%s: holds samples, not times; give --large as a percentage", first);
}

int command_diff(int argc, char **argv)
{
    struct diff_settings s = { .diff = { .sort = DIFF_ELAPSED_EXCLUSIVE, .large.percent = 1 } };
    diff_parse_sides(&s, argc, argv);
    s.diff.min = s.shared.min;
    s.diff.limit = s.shared.limit;
    if (s.print && s.shared.columns)
        die(STATUS_ERROR, "--columns: this --format has its own columns");
    if (!shared_is_set(&s.shared, SHARED_LIMIT) && s.shared.print == table_print_text)
        s.diff.limit = TEXT_LIMIT;
    struct diff *d = diff_new(s.by);
    s.shared.load.selection.filters.several = true;
    diff_load_side(&s, d, DIFF_BEFORE);
    diff_load_side(&s, d, DIFF_AFTER);
    diff_check_filters(&s);
    diff_check_sessions(&s, d);
    diff_judge(d, &s.diff);
    diff_print_result(&s, d);
    const bool failed = diff_report_gates(&s, d);
    const int written = finish_output();
    const int status = written == STATUS_OK && failed ? STATUS_FINDING : written;
    diff_free(d);
    diff_sources_drop(&s.sources);
    free(s.gates);
    for (int side = 0; side < DIFF_SIDES; side++)
        session_list_drop(&s.sides[side]);
    shared_options_drop(&s.shared);
    return status;
}
