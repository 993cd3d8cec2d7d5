/* dwell advise: reads its options, and prints what a recording should leave out, as a table or in the form that a
 * compiler or dwell record takes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "report/advice_forms.h"
#include "report/text_lines.h"
#include "report/text_summary.h"
#include "tables/advice_rows.h"
#include "tables/library_advice_rows.h"

enum { TEXT_ROWS = 20, TEXT_LIBRARY_ROWS = 5 };

static const struct shared_use shared[] = {
    { SHARED_SORT, "(default: those that cost most first)" },
    { SHARED_LIMIT, "(default: 20 in text)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct advise_settings {
    struct shared_options shared;
    uint32_t permille;
    enum advice_form form;
    const char *file;
};

static void advise_read_overhead(void *settings, const struct option_row *row, char *argument)
{
    struct advise_settings *s = settings;
    (void)row;
    s->permille = option_overhead("--overhead", argument);
}

static void advise_choose_form(struct advise_settings *s, enum advice_form form)
{
    if (s->form != ADVICE_TABLE && s->form != form)
        die(STATUS_ERROR, "advise: --flags, --attributes, --filter and --levels are different forms: choose one");
    s->form = form;
}

static void advise_read_form(void *settings, const struct option_row *row, char *argument)
{
    (void)argument;
    advise_choose_form(settings, (enum advice_form)row->value);
}

static void advise_read_flags(void *settings, const struct option_row *row, char *argument)
{
    advise_choose_form(settings, (enum advice_form)option_word_value(row, argument));
}

static const struct option_word compilers[] = { { "gcc", ADVICE_GCC }, { "clang", ADVICE_CLANG }, { NULL, 0 } };

static const struct option_row options[] = {
    { "overhead", "PERCENT", "Aim at probes that take PERCENT of the program's own CPU time (1 to 1000; default: 10)",
      READ_BY(advise_read_overhead) },
    { "flags", "COMPILER", "Print flags of the compiler: gcc or clang", READ_BY(advise_read_flags), .words = compilers,
      .group = 1 },
    { "attributes", NULL, "List where the source needs __attribute__((no_instrument_function))",
      READ_BY(advise_read_form), .value = ADVICE_ATTRIBUTES },
    { "filter", NULL, "Print a filter file that suppresses the functions, for dwell record", READ_BY(advise_read_form),
      .value = ADVICE_FILTER },
    { "levels", NULL, "Print a filter file that only counts their calls, for dwell record", READ_BY(advise_read_form),
      .value = ADVICE_LEVELS },
    { TAKE_SESSION(struct advise_settings, file) },
    { 0 },
};

static const struct command_line line = {
    .name = "advise",
    .daily = "overhead flags attributes filter levels sort limit format",
    .arguments = "[FILE]",
    .text =
        "Lists the functions that a recording should leave out, as their times are worth least for what their probes "
        "cost, and predicts what that saves.\v"
        "The rule is that of dwell record --overhead: the functions with the shortest calls go first, unless they cost "
        "next to nothing. PROBES is the time of a function's probes, in percent of the program's own CPU time. The time of a function that is left "
        "out counts for its callers: GOES TO is the one that gets most. In a session with counted calls, the "
        "prediction is for a recording that times all functions.\n\n"
        "Functions of libraries that instrumented functions call are listed, too, if samples show that they take 1 % of "
        "the time. The last line records their calls.\n\n"
        "GCC leaves out each function whose name contains a text of its list. So a name that is a part of another one "
        "is not in the list, and a line on standard error says so. clang has no such list.\n\nExamples:\n"
        "  dwell advise\n"
        "  make CC='dwell cc' CFLAGS=\"-O2 $(dwell advise --flags gcc)\"\n"
        "  dwell advise --attributes run.data\n"
        "  dwell advise --filter > tiny.filters; dwell record --no-hidden-probes --filter-file tiny.filters ./prog\n"
        "  dwell advise --levels --overhead 5% > tiny.levels; dwell record --filter-file tiny.levels ./prog",
    .options = options,
    .needs = SESSION_PROBES,
    .shared = shared,
    .columns = view_advice_columns,
    .column_count = &view_advice_column_count,
};

/* ---- the table ---- */

static void advise_print_prediction(const struct analysis *analysis, const struct advice *a,
                                    const struct advice_effect *e)
{
    char *all = advice_describe(analysis, a, a->all_calls, budget_cost(a->all_calls, &a->look));
    text_print_lines(stdout, "all functions: %s", all);
    free(all);
    if (!a->count)
        return;
    char *left = advice_describe(analysis, a, e->calls_left, e->cost_left);
    text_print_lines(stdout, "without %zu of %zu: %s", e->functions, a->functions, left);
    free(left);
    if (!advice_is_reached(a, e->cost_left))
        text_print_lines(stdout,
                         "! the aim is not reached: the other functions have too few calls, or cannot be left out");
    puts("");
}

/* ---- functions of libraries ---- */

static void advise_print_libraries(const struct analysis *analysis, const struct library_advice *libraries)
{
    if (!analysis->summary.stack_samples) {
        puts("");
        text_print_lines(
            stdout,
            "functions of libraries are not listed, as the session has no samples: dwell record --sample 1000 PROGRAM");
    }
    if (!libraries->count)
        return;
    struct table t = view_library_advice(analysis, libraries);
    t.follows = t.own_summary = true;
    table_limit(&t, TEXT_LIBRARY_ROWS);
    t.heading = need_text("%s", "library functions that take the time, by samples; their calls can be recorded:");
    table_print_text(&t, stdout);
    puts("");
    library_advice_print_command(libraries, TEXT_LIBRARY_ROWS, stdout);
    table_drop(&t);
}

static void advise_print_libraries_json(const struct analysis *analysis, const struct library_advice *libraries)
{
    struct table t = view_library_advice(analysis, libraries);
    table_print_json_rows(&t, "library_calls", stdout);
    table_drop(&t);
}

/* What else can be printed of the table. */
static void advise_print_forms(const struct advice *a, const struct advice_effect *e)
{
    if (a->count) {
        puts("");
        text_print_lines(
            stdout,
            "--flags gcc, --flags clang, --attributes, --filter and --levels print this for a compiler or dwell record");
    } else {
        text_print_lines(stdout, "nothing is worth leaving out: %s",
                         advice_is_reached(a, e->cost_left) ? "the probes are within the aim (--overhead)"
                                                            : "all functions have few calls, or cannot be left out");
    }
}

static void advise_print_table(const struct advise_settings *s, const struct analysis *analysis, const struct advice *a,
                               const struct advice_effect *e)
{
    struct library_advice libraries = library_advice_of(analysis);
    const bool text = s->shared.print == table_print_text;
    struct table t = view_advice(analysis, a);
    const size_t limit = shared_is_set(&s->shared, SHARED_LIMIT) ? s->shared.limit : text ? TEXT_ROWS : 0;
    option_arrange_first(&t, s->shared.sort, limit, s->shared.columns);
    if (text)
        advise_print_prediction(analysis, a, e);
    t.follows = t.own_summary = text;
    if (s->shared.print == table_print_json) {
        json_begin(stdout);
        json_print_remarks(&analysis->summary, stdout);
        advice_print_json(analysis, a, e, stdout);
        fputs(",\n ", stdout);
        table_print_json_rows(&t, "rows", stdout);
        fputs(",\n ", stdout);
        advise_print_libraries_json(analysis, &libraries);
        fputs("}\n", stdout);
    } else if (!text || a->count) {
        s->shared.print(&t, stdout);
    }
    if (text) {
        advise_print_forms(a, e);
        text_print_facts(&analysis->summary, true, stdout);
        advise_print_libraries(analysis, &libraries);
    }
    library_advice_drop(&libraries);
    table_drop(&t);
}

int command_advise(int argc, char **argv)
{
    enum { USUAL_AIM = 100 };
    struct advise_settings s = { .permille = USUAL_AIM };
    struct analysis loaded;
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (s.form != ADVICE_TABLE && s.shared.print != table_print_text)
        die(STATUS_ERROR, "advise: --format is of the table; the other forms have their own");
    shared_options_load_plain(&loaded, s.file, &s.shared);
    struct advice a = advice_of(&loaded, s.permille);
    const struct advice_effect e = advice_predict(&a, a.has, loaded.profile->function_count, false);
    if (s.form == ADVICE_TABLE)
        advise_print_table(&s, &loaded, &a, &e);
    else
        advice_print_form(&loaded, &a, s.form, stdout);
    advice_drop(&a);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    return finish_output();
}
