/* dwell values: the calls of a function by a value of an argument, and what can be read of a program's functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/loaded_values.h"
#include "arguments/value_choice.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/function_words.h"
#include "commands/values_list.h"
#include "tables/calls_by_value.h"
#include "tables/recorded_argument.h"

enum { USUAL_ROWS = 40 };

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },   { SHARED_CALLS, NULL },    { SHARED_LIMIT, "(default: 40)" },
    { SHARED_FORMAT, NULL }, { SHARED_TEXT, NULL },     { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },    { SHARED_NO_MERGE, NULL }, { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL }, { SHARED_END, NULL },
};

struct values_settings {
    struct shared_options shared;
    struct function_words words; /* with --list all are functions */
    const char *program;         /* of --list */
    const char *by;
    bool each;
    uint32_t quantiles; /* whether ranges are */
};

static const struct option_word kinds_of_ranges[] = { { "powers", false }, { "quantiles", true }, { NULL, 0 } };

static const struct option_row options[] = {
    { "list", "PROGRAM", "Say what can be read in PROGRAM, a program or a library, where not, and why",
      STORE_TEXT(struct values_settings, program) },
    { "by", "WHAT", "By this value, or by two (n,kind): a row for each pair; the same as FUNCTION:WHAT,WHAT",
      STORE_TEXT(struct values_settings, by) },
    { "ranges", "KIND",
      "What many different numbers become: powers (of two, default), or quantiles: up to ten ranges with about as many "
      "calls each",
      STORE_CHOICE(struct values_settings, quantiles, kinds_of_ranges) },
    { "each", NULL, "A row for each value, not for ranges of numbers", STORE_FLAG(struct values_settings, each) },
    { TAKE_FUNCTION(struct values_settings, words) },
    { 0 },
};

static const struct command_line line = {
    .name = "values",
    .arguments = "FUNCTION[:WHAT[,WHAT]] [FILE]",
    .text =
        "Shows how long a function's calls took, by a value of its arguments.\v"
        "First record the values: dwell record --values FUNCTION[:WHAT,...] ./prog. WHAT is a parameter (n) or a part "
        "of one (req->len, v.size, *p, name[0], this->count). Then each row has the calls with one value. More than "
        "20 different numbers become ranges: each begins with a power of two and ends before the next one. With --ranges quantiles, they are tenths of the "
        "calls, whose ends are values of calls. P50, P99 "
        "and MAX are times of single calls. Values whose memory could not be read have a row of their own.\n\n"
        "dwell values --list PROGRAM FUNCTION[:WHAT,...]... says before a run what can be read. With -g, the compiler "
        "writes where each parameter is in the code. A function has a PLACE for each call of its probe: in its own "
        "code, and in each inlined copy. READABLE counts those in which the value is in a register, in memory, or a "
        "constant. WHERE is that of the first one, and WHY NOT says what the others lack. There, WHAT can also be the "
        "result (return). Without it, all parameters and the result are listed. Pointers to char, std::string and "
        "std::string_view are read as text, smart pointers as what they hold. FUNCTION is a name, or a pattern as in "
        "dwell record --only.\n\n"
        "The file of the debug information can be a separate one, as with dwell report. Arguments are read on x86-64."
        "\n\nExamples:\n"
        "  dwell values --list ./prog parse_line\n"
        "  dwell record --values 'handle:req->len' ./prog\n"
        "  dwell values 'handle:req->len'\n"
        "  dwell values --list ./prog 'Parser::*' --format json",
    .options = options,
    .needs = SESSION_VALUED_CALLS,
    .shared = shared,
};

/* ---- the view ---- */

static void values_add_remarks(struct analysis *analysis, const struct recorded_values *values,
                               const struct by_value *by)
{
    recorded_argument_remark_valueless(&analysis->summary, by->valueless, by->sums);
    recorded_argument_remark_others(&analysis->summary, by->others);
    recorded_argument_remark_losses(&analysis->summary, analysis->file->more.lost_values, values->damaged_chunks,
                                    values->later_calls);
}

static void values_print(const struct values_settings *s, const struct function_name *name, const struct table *table)
{
    if (s->shared.print != table_print_json) {
        s->shared.print(table, stdout);
        return;
    }
    char *function = json_text(name->name), *module = json_text(name->module);
    json_print_open(table, stdout);
    printf(",\n \"function\": %s, \"module\": %s}\n", function, module);
    free(module);
    free(function);
}

static void values_view(struct values_settings *s)
{
    struct error error = { NULL };
    struct analysis analysis;
    struct table table;
    const char *given = function_words_take(&s->words);
    if (s->words.count > 1)
        die(STATUS_ERROR, "values: one function and one session at a time; --list takes several functions");
    char *function = need_copy(given, strlen(given));
    struct by_value by = { .what = value_choice_take_what(function), .each = s->each, .quantiles = s->quantiles };
    if (s->by && by.what)
        die(STATUS_ERROR, "values: give the values once, by FUNCTION:WHAT or by --by");
    if (s->by)
        by.what = s->by;
    s->shared.load.by_values = true;
    shared_options_load(&analysis, function_words_file(&s->words), &s->shared);
    by.function = option_timed_function(&analysis, function);
    const struct recorded_values *values = loaded_values(&analysis);
    if (!view_by_value(&analysis, values, &by, &table, &error))
        die_of(&error);
    values_add_remarks(&analysis, values, &by);
    table.heading = need_text("%s: %" PRIu64 " %scalls by %s", analysis.names[by.function].name, by.valued,
                              by.sums ? "" : "completed ", by.what);
    const size_t limit = shared_is_set(&s->shared, SHARED_LIMIT) ? s->shared.limit : USUAL_ROWS;
    table_limit(&table, limit ? limit : table.row_count);
    values_print(s, &analysis.names[by.function], &table);
    table_drop(&table);
    analysis_drop(&analysis);
    free(function);
}

int command_values(int argc, char **argv)
{
    struct values_settings s = { .words = { .command = "values" } };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (s.program && !s.words.count)
        die(STATUS_ERROR, "values: --list PROGRAM needs a FUNCTION; dwell values --help");
    if (s.program)
        values_list(s.program, s.words.words, s.words.count, &s.shared);
    else
        values_view(&s);
    shared_options_drop(&s.shared);
    function_words_drop(&s.words);
    return finish_output();
}
