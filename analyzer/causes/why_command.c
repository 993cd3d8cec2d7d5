/* dwell why: reads its options, and prints what slow calls of a function do more of than usual ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "base/counted_text.h"
#include "base/duration.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/units.h"
#include "causes/causes_feature.h"
#include "causes/why_rows.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/die.h"
#include "commands/function_words.h"
#include "commands/sessions.h"
#include "report/text_lines.h"
#include "report/text_summary.h"

enum { TEXT_ROWS = 20 };

static const struct shared_use shared[] = {
    { SHARED_FROM, NULL },
    { SHARED_TO, NULL },
    { SHARED_WITHIN, NULL },
    { SHARED_THREAD, NULL },
    { SHARED_PROCESS, NULL },
    { SHARED_CALLS, NULL },
    { SHARED_FILTER, NULL },
    { SHARED_SORT, "(default: what differs most)" },
    { SHARED_LIMIT, "(default: 20 in text, else all)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct why_settings {
    struct shared_options shared;
    struct function_words words;
    struct why_choice choice;
    bool interval, factors;
};

/* The sessions that are compared. Those without a call of the function are left out. */
struct why_loaded {
    struct analysis several, *parts;
    struct analysis *all; /* what text shows above the table: the only session, or `several` */
    size_t part_count;
    struct why_session *sessions;
    size_t count;
};

/* ---- options ---- */

/* Reads the number of a percentile. Returns what follows it, or NULL if it is none. */
static const char *why_read_percentile(const char *text, double *percent)
{
    char *end;
    if (*text != 'p')
        return NULL;
    *percent = strtod(text + 1, &end);
    return end == text + 1 || !(*percent >= 0 && *percent <= 100) ? NULL : end;
}

static void why_parse_slow(struct why_choice *c, const char *text)
{
    struct amount amount;
    const char *end = why_read_percentile(text, &c->percent);
    if (end && !*end) {
        c->slow = WHY_PERCENTILE;
    } else if (*text == '>' && duration_parse(text + 1, &c->number)) {
        c->slow = WHY_ABOVE;
    } else if (strchr(text, '%') && !amount_parse(text, &amount) && amount.percent > 0) {
        c->slow = WHY_SHARE;
        c->percent = amount.percent;
    } else {
        die(STATUS_ERROR, "--slow: '%s' is no share such as 1%%, time such as '>20ms', or percentile such as p99",
            text);
    }
}

static void why_parse_against(struct why_choice *c, const char *text)
{
    c->between = strcmp(text, "rest") != 0;
    if (!c->between)
        return;
    const char *end = why_read_percentile(text, &c->from);
    if (end && *end == '-')
        end = why_read_percentile(end + 1, &c->to);
    if (!end || *end || c->from > c->to)
        die(STATUS_ERROR, "--against: '%s' is neither rest nor a range such as p25-p75", text);
}

static void why_parse_call(struct why_choice *c, const char *text)
{
    char *end;
    const unsigned long rank = strtoul(text, &end, 10);
    if (end != text && !*end && rank > 0 && *text != '-') {
        c->slow = WHY_RANK;
        c->number = rank;
    } else if (duration_parse(text, &c->number)) {
        c->slow = WHY_MOMENT;
    } else {
        die(STATUS_ERROR, "--call: '%s' is neither a number such as 1, the slowest, nor a time such as 1.5s", text);
    }
}

static void why_read_choice(void *settings, const struct option_row *row, char *argument)
{
    struct why_settings *s = settings;
    switch (row->name[0]) {
    case 's':
        why_parse_slow(&s->choice, argument);
        break;
    case 'a':
        why_parse_against(&s->choice, argument);
        break;
    default:
        why_parse_call(&s->choice, argument);
        break;
    }
}

static const struct option_row options[] = {
    { "slow", "WHICH",
      "the slow calls: a share such as 1% (default), those above a time such as '>20ms', or above a percentile such as "
      "p99",
      READ_BY(why_read_choice) },
    { "against", "WHICH", "the usual calls: rest (default), or those from p25-p75", READ_BY(why_read_choice) },
    { "call", "WHICH", "one slow call: 1 is the slowest, 1.5s one that was open at that time",
      READ_BY(why_read_choice) },
    { "interval", NULL, "show how certain each difference is", STORE_FLAG(struct why_settings, interval) },
    { "factors", NULL, "only what else differs, as a table: threads, marks, trace events, the time",
      STORE_FLAG(struct why_settings, factors) },
    { TAKE_FUNCTION(struct why_settings, words) },
    { 0 },
};

static const struct command_line line = {
    .name = "why",
    .daily = "slow against call interval factors from to thread filter limit format",
    .arguments = "FUNCTION [FILE...]",
    .text =
        "Explains why calls of a function were slow: compares the slow ones with the usual ones, row by row.\v"
        "A row is a call path below FUNCTION, with what its time was: CPU time, blocked on an object, preempted, page "
        "faults, files, and the probes. Times are means of a call, and add up to those of both sets. FUNCTION is as in "
        "dwell callers; of recursive calls, the outermost one counts. Several sessions are compared as one.\n\n"
        "Examples:\n"
        "  dwell why handle_request\n"
        "  dwell why --slow '>20ms' --against p25-p75 handle_request run.data\n"
        "  dwell why --call 1 --format json handle_request\n"
        "  dwell why handle_request monday.data tuesday.data",
    .options = options,
    .needs = SESSION_SINGLE_CALLS,
    .shared = shared,
    .columns = view_why_columns,
    .column_count = &view_why_column_count,
};

/* ---- output ---- */

/* Adds a session, if it has a call of the function. */
static void why_add_session(struct why_loaded *loaded, const struct analysis *part, const char *function)
{
    size_t count;
    free(function_find_all(part, function, &count));
    if (!count && loaded->part_count > 1)
        summary_remark(&loaded->all->summary, "why-no-calls", "%s: has no call of the function", part->file->path);
    else
        loaded->sessions[loaded->count++] = (struct why_session){ part, option_timed_function(part, function), NULL };
}

static void why_load(struct why_loaded *loaded, struct why_settings *s)
{
    static char *const usual[] = { DWELL_USUAL_FILE };
    const char *function = function_words_take(&s->words);
    struct session_list list = { 0 };
    for (size_t i = 0; i < s->words.count; i++)
        session_list_add(&list, s->words.words[i]);
    session_list_unique(&list);
    *loaded = (struct why_loaded){ .part_count = list.count ? list.count : 1 };
    loaded->parts = need_memory(loaded->part_count, sizeof *loaded->parts);
    loaded->sessions = need_memory(loaded->part_count, sizeof *loaded->sessions);
    loaded->all = loaded->part_count > 1 ? &loaded->several : loaded->parts;
    if (loaded->part_count > 1 && s->choice.slow == WHY_MOMENT)
        die(STATUS_ERROR, "--call: a time is of one session; of several, --call 1 is the slowest call");
    session_list_need_whole(&list, &s->shared);
    for (size_t i = 0; i < loaded->part_count; i++)
        shared_options_load(&loaded->parts[i], list.count ? list.paths[i] : usual[0], &s->shared);
    if (loaded->part_count > 1)
        analysis_sum_several(&loaded->several, loaded->parts, loaded->part_count);
    for (size_t i = 0; i < loaded->part_count; i++)
        why_add_session(loaded, &loaded->parts[i], function);
    if (!loaded->count)
        option_timed_function(&loaded->parts[0], function); /* says that there is none */
    session_list_drop(&list);
}

static void why_unload(struct why_loaded *loaded)
{
    for (size_t i = 0; i < loaded->part_count; i++)
        analysis_drop(&loaded->parts[i]);
    if (loaded->part_count > 1)
        analysis_drop(&loaded->several);
    free(loaded->parts);
    free(loaded->sessions);
}

static void why_add_remarks(const struct why_loaded *loaded, const struct why *why)
{
    struct summary *summary = &loaded->all->summary;
    for (size_t i = 0; i < loaded->part_count; i++) {
        const struct session_file *file = loaded->parts[i].file;
        if (file->header.also & DWELL_ALSO_CAUSES)
            continue;
        const bool several = loaded->part_count > 1;
        summary_remark(summary, "no-causes", "%s%scauses of waits were not recorded: record again",
                       several ? file->path : "", several ? ": " : "");
    }
    if (why->scan.cut)
        summary_remark(summary, "why-cut-calls", "%s not recorded as a whole, and in neither set",
                       COUNTED_WAS(why->scan.cut, "call"));
}

static void why_print_set(const char *key, const struct why *why, const struct why_set *s)
{
    printf(", \"%s\": {\"calls\": %" PRIu64 ", \"min_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64 "}", key, s->calls,
           ticks_to_ns(s->least, why->rate), s->ns);
}

static void why_print_json(const struct why *why, const struct why_loaded *loaded, const char *answer,
                           const struct table *t, const struct table *factors)
{
    const struct function_name *function = &loaded->sessions[0].analysis->names[loaded->sessions[0].function];
    char *name = json_text(function->name), *module = json_text(function->module);
    char *words = json_text(answer);
    json_begin(stdout);
    json_print_remarks(&loaded->all->summary, stdout);
    printf("\"function\": %s, \"module\": %s, \"calls\": %" PRIu64, name, module, why->calls);
    why_print_set("slow", why, &why->sets[WHY_SLOW]);
    why_print_set("usual", why, &why->sets[WHY_USUAL]);
    printf(", \"difference_ns\": %" PRId64 ",\n \"answer\": %s,\n ",
           (int64_t)(why->sets[WHY_SLOW].ns - why->sets[WHY_USUAL].ns), words);
    table_print_json_rows(t, "rows", stdout);
    fputs(",\n ", stdout);
    table_print_json_rows(factors, "factors", stdout);
    fputs("}\n", stdout);
    free(words);
    free(module);
    free(name);
}

static void why_print_text(struct why_settings *s, const struct why_loaded *loaded, const char *answer,
                           struct table *rows, struct table *factors)
{
    text_put_lines(stdout, answer, terminal_width(stdout));
    rows->follows = factors->follows = rows->own_summary = factors->own_summary = true;
    if (!s->factors)
        table_print_text(rows, stdout);
    if (factors->row_count)
        factors->heading = need_text("%s", "what else differs: shares of the calls");
    if (s->factors || factors->row_count)
        table_print_text(factors, stdout);
    text_print_facts(&loaded->all->summary, true, stdout);
}

/* Filters, orders and chooses columns of the table that they are for. */
static void why_arrange(const struct why_settings *s, struct table *t, size_t limit, const char *columns)
{
    option_filter(t, &s->shared.filters);
    const char *const *optional = t->optional;
    option_arrange_first(t, s->shared.sort, limit, s->shared.columns ? s->shared.columns : columns);
    if (!s->shared.columns) /* the user has not chosen the columns: they may leave a narrow terminal */
        t->optional = optional;
}

static void why_print(struct why_settings *s, const struct why *why, const struct why_loaded *loaded)
{
    const bool text = s->shared.print == table_print_text;
    char *answer = why_answer(why, &loaded->sessions[0], &s->choice);
    struct table rows = view_why(why), factors = view_why_factors(why);
    const size_t limit = shared_is_set(&s->shared, SHARED_LIMIT) || !text ? s->shared.limit : TEXT_ROWS;
    why_arrange(s, s->factors ? &factors : &rows, limit,
                text && s->interval && !s->factors ? why_columns_with_intervals : NULL);
    if (text)
        why_print_text(s, loaded, answer, &rows, &factors);
    else if (s->shared.print == table_print_json)
        why_print_json(why, loaded, answer, &rows, &factors);
    else
        s->shared.print(s->factors ? &factors : &rows, stdout);
    table_drop(&factors);
    table_drop(&rows);
    free(answer);
}

int why_command(int argc, char **argv)
{
    struct why_settings s = { .words = { .command = "why" }, .choice = { .percent = 1, .values = true } };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    struct why_loaded loaded;
    struct why why;
    struct error error = { NULL };
    why_load(&loaded, &s);
    if (!why_find_several(&why, loaded.sessions, loaded.count, &s.choice, &error))
        die(STATUS_ERROR, "%s: %s", loaded.all->file->path, error.text);
    why_add_remarks(&loaded, &why);
    why_print(&s, &why, &loaded);
    why_drop(&why);
    why_unload(&loaded);
    shared_options_drop(&s.shared);
    function_words_drop(&s.words);
    return finish_output();
}
