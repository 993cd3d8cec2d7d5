/* The options of a comparison, and its output. The conditions of --fail-if set the exit status. */
#include "commands/diff_result.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "report/text_lines.h"

enum { TEXT_LIMIT = 40 };

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

const struct option_word diff_ways[] = {
    { "function", DIFF_FUNCTIONS }, { "module", DIFF_MODULES }, { "path", DIFF_PATHS }, { NULL, 0 }
};

void diff_result_add_gate(void *settings, const struct option_row *row, char *text)
{
    struct diff_result *r = option_member(settings, row);
    struct error error = { NULL };
    if (exponent_gate_is(text)) {
        if (!exponent_gates_add(&r->exponents, text, &error))
            die(STATUS_ERROR, "--fail-if '%s': %s", text, error.text);
        return;
    }
    GROW(r->gates, r->gate_count, r->gate_room);
    if (!diff_gate_parse(&r->gates[r->gate_count++], text, &error))
        die(STATUS_ERROR, "--fail-if '%s': %s", text, error.text);
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

bool diff_result_read_shared(struct diff_result *r, enum shared_option option, const char *argument)
{
    if (option == SHARED_FORMAT && (r->print = diff_format(argument)))
        return true;
    if (option == SHARED_SORT) {
        r->options.sort = diff_parse_sort(argument);
        r->usual_sort = false;
    }
    if (option == SHARED_COLUMNS && strcmp(argument, "help") == 0) {
        view_diff_list_columns(stdout);
        exit(finish_output());
    }
    return false;
}

/* ---- output ---- */

/* Prints one line instead of rows without changes, unless the user chose their columns. */
static void diff_print_equal(const struct diff *d)
{
    static const char *const kinds[] = {
        [DIFF_FUNCTIONS] = "function", [DIFF_MODULES] = "module", [DIFF_PATHS] = "call path"
    };
    printf("\nno difference: all compared values of %s are equal\n", COUNTED(d->row_count, kinds[d->by]));
}

static void diff_print_rows(const struct diff_result *r, const struct diff *d, const struct table *rows)
{
    const char *optional[MAX_DIFF_OPTIONAL];
    struct table fitting = *rows;
    view_diff_optional_columns(d, &r->options, optional);
    if (!r->shared->columns)
        fitting.optional = optional;
    table_print_text(&fitting, stdout);
}

static void diff_print_text(const struct diff_result *r, const struct diff *d, struct table *rows)
{
    struct table sessions = view_diff_sessions(d);
    char *usual = view_diff_usual_columns(d, &r->options), *judgement = diff_judgement(d, &r->options);
    if (!r->shared->columns)
        option_choose(rows, usual);
    char *answer = diff_answer(d);
    if (answer) {
        text_print_lines(stdout, "%s", answer);
        puts("");
    }
    free(answer);
    table_print_text(&sessions, stdout);
    for (size_t i = 0; i < d->remark_count; i++)
        if (!remark_is_caveat(d->remark_codes[i]))
            text_print_lines(stdout, "! %s", d->remarks[i]);
    if (diff_has_caveats(d))
        text_print_lines(stdout, "~ %s", DIFF_CAVEAT);
    if (diff_is_equal(d) && !r->shared->columns) {
        diff_print_equal(d);
        table_drop(&sessions);
        free(usual);
        free(judgement);
        return;
    }
    const bool of_calls = r->options.sort == DIFF_CALLS;
    puts("");
    text_print_lines(stdout, "%s%s", of_calls ? "" : diff_is_tested(d) ? "* " : "# ", judgement);
    puts(!of_calls && diff_has_certain_calls(d) ? "! the calls have changed, for certain\n" : "");
    diff_print_rows(r, d, rows);
    table_drop(&sessions);
    free(usual);
    free(judgement);
}

static void diff_print_json(const struct diff_result *r, const struct diff *d, const struct table *rows)
{
    struct table sessions = view_diff_sessions(d), remarks = view_diff_remarks(d);
    char *judgement = diff_judgement(d, &r->options), *answer = diff_answer(d);
    json_name_schema("diff"); /* of dwell compare, too */
    json_begin(stdout);
    if (answer)
        printf("\"answer\": \"%s\",\n ", answer);
    else
        fputs("\"answer\": null,\n ", stdout);
    printf("\"judged\": \"%s\",\n ", judgement);
    table_print_json_rows(&sessions, "sessions", stdout);
    fputs(",\n ", stdout);
    table_print_json_rows(&remarks, "remarks", stdout);
    fputs(",\n ", stdout);
    table_print_json_rows(rows, "rows", stdout);
    fputs("}\n", stdout);
    table_drop(&remarks);
    table_drop(&sessions);
    free(judgement);
    free(answer);
}

static void diff_print_result(const struct diff_result *r, const struct diff *d)
{
    if (r->print) {
        r->print(&(struct diff_output){ d, &r->options, r->gates, r->gate_count, &r->sources }, stdout);
        return;
    }
    struct table rows = view_diff(d, &r->options, r->shared->print == table_print_text);
    if (r->shared->columns) {
        char *columns = view_diff_columns(r->shared->columns);
        option_choose(&rows, columns);
        free(columns);
    }
    if (r->shared->print == table_print_text)
        diff_print_text(r, d, &rows);
    else if (r->shared->print == table_print_json)
        diff_print_json(r, d, &rows);
    else
        r->shared->print(&rows, stdout);
    table_drop(&rows);
}

/* Prints on standard error; with a pager, after the table. Returns whether a condition is met. */
static bool diff_report_gates(const struct diff_result *r, const struct diff *d)
{
    FILE *out = terminal_is_paged() && r->shared->print == table_print_text ? stdout : stderr;
    bool failed = false;
    if (out == stderr)
        fflush(stdout);
    for (size_t i = 0; i < r->gate_count; i++)
        failed |= diff_gate_report(&r->gates[i], d, out) > 0;
    return exponent_gates_report(&r->exponents, out) || failed;
}

/* Ends the program if the sessions lack a value that the options name. */
static void diff_check_sessions(const struct diff_result *r, const struct diff *d, const char *first)
{
    for (size_t i = 0; i < r->gate_count; i++)
        if (diff_gate_check(&r->gates[i], d))
            die(STATUS_ERROR, "--fail-if '%s': %s", r->gates[i].text, diff_gate_check(&r->gates[i], d));
    if (!r->usual_sort && r->options.sort < DIFF_VALUES && !d->known[r->options.sort])
        die(STATUS_ERROR, "--sort: some of these sessions do not have %s", diff_value_name(r->options.sort));
    option_check_times("--min", r->shared->min, d->samples, first);
    option_check_times("--large", r->options.large, d->samples, first);
}

static bool diff_names_percentile(const char *columns)
{
    char *keys = view_diff_columns(columns ? columns : "");
    bool named = false;
    for (const char *key = keys; key; key = strchr(key, ',') ? strchr(key, ',') + 1 : NULL)
        for (enum diff_value i = DIFF_SUMS; i < DIFF_VALUES; i++) {
            const size_t length = strlen(diff_value_name(i));
            named |= strncmp(key, diff_value_name(i), length) == 0 && key[length] == '_';
        }
    free(keys);
    return named;
}

bool diff_result_wants_percentiles(const struct diff_result *r)
{
    bool wanted = (r->options.sort < DIFF_VALUES && diff_is_percentile(r->options.sort)) ||
                  diff_names_percentile(r->shared->columns);
    for (size_t i = 0; i < r->gate_count; i++)
        wanted |= diff_is_percentile(r->gates[i].value);
    return wanted;
}

void diff_result_check(const struct diff_result *r)
{
    if (r->print && r->shared->columns)
        die(STATUS_ERROR, "--columns: this --format has its own columns");
}

void diff_result_add_sources(struct diff_result *r, const struct diff *d, const struct analysis *session)
{
    if (r->print)
        diff_sources_add(&r->sources, d, session);
}

void diff_result_add_values(struct diff_result *r, enum diff_side side, const struct analysis *session)
{
    exponent_gates_load(&r->exponents, side, session);
}

int diff_result_finish(struct diff_result *r, struct diff *d, const char *first)
{
    r->options.min = r->shared->min;
    r->options.limit = r->shared->limit;
    if (!shared_is_set(r->shared, SHARED_LIMIT) && r->shared->print == table_print_text)
        r->options.limit = TEXT_LIMIT;
    diff_check_sessions(r, d, first);
    exponent_gates_fit(&r->exponents);
    if (r->usual_sort)
        r->options.sort = diff_work_value(d);
    diff_judge(d, &r->options);
    diff_print_result(r, d);
    const bool failed = diff_report_gates(r, d);
    const int written = finish_output();
    return written == STATUS_OK && failed ? STATUS_FINDING : written;
}

void diff_result_drop(struct diff_result *r)
{
    free(r->gates);
    exponent_gates_drop(&r->exponents);
    diff_sources_drop(&r->sources);
}
