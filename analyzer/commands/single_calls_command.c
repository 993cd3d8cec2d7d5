/* dwell histogram and dwell slowest: the single calls of one function. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/shell_word.h"
#include "base/text_options.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/function_words.h"
#include "report/plot.h"
#include "report/text_lines.h"
#include "symbols/display_name.h"
#include "tables/views.h"

enum { MAX_CALLS = 1000000, USUAL_CALLS = 20 };

#define VALUE_NOTE "elapsed_inclusive (default), elapsed_exclusive, application_inclusive or application_exclusive"
#define SORT_NOTE "(default: as they come)"

static const struct shared_use histogram_shared[] = {
    { SHARED_PART, NULL },      { SHARED_CALLS, NULL },   { SHARED_FILTER, NULL },   { SHARED_VALUE, VALUE_NOTE },
    { SHARED_SORT, SORT_NOTE }, { SHARED_COLUMNS, NULL }, { SHARED_FORMAT, NULL },   { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },  { SHARED_RAW, NULL },     { SHARED_NO_MERGE, NULL }, { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },    { SHARED_END, NULL },
};

static const struct shared_use slowest_shared[] = {
    { SHARED_PART, NULL },        { SHARED_CALLS, NULL },     { SHARED_FILTER, NULL },
    { SHARED_VALUE, VALUE_NOTE }, { SHARED_SORT, SORT_NOTE }, { SHARED_LIMIT, "(default: 20; a million at most)" },
    { SHARED_COLUMNS, NULL },     { SHARED_FORMAT, NULL },    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },    { SHARED_RAW, NULL },       { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },        { SHARED_STRICT, NULL },    { SHARED_END, NULL },
};

struct single_calls_settings {
    struct shared_options shared;
    struct function_words words;
    enum call_time time;
    const char *function; /* as it was given */
    /* The options and arguments that say which calls, for the next command: name, argument and so on. */
    const char **part;
    size_t part_count, part_room;
};

static const struct option_row options[] = { { TAKE_FUNCTION(struct single_calls_settings, words) }, { 0 } };

static void single_calls_keep(struct single_calls_settings *s, const char *text)
{
    GROW(s->part, s->part_count, s->part_room);
    s->part[s->part_count++] = text;
}

/* dwell why has no --root: it goes by the calls of one function. */
static bool single_calls_is_of_why(enum shared_option option)
{
    return (option >= SHARED_FROM && option <= SHARED_PROCESS) ||
           (option >= SHARED_ONLY && option <= SHARED_CALL_DEPTH);
}

static bool single_calls_read_shared(void *settings, enum shared_option option, const char *argument)
{
    struct single_calls_settings *s = settings;
    if (option == SHARED_VALUE)
        s->time =
            (enum call_time)option_find_row("--value", argument, call_time_names, sizeof *call_time_names, CALL_TIMES);
    if (single_calls_is_of_why(option)) {
        single_calls_keep(s, shared_option_name(option));
        single_calls_keep(s, argument);
    }
    if (s->time >= CALL_APPLICATION_INCLUSIVE)
        s->shared.needs |= SESSION_OS_EVENTS;
    return false;
}

static uint32_t single_calls_load(struct analysis *analysis, struct single_calls_settings *s)
{
    const char *name = s->function = function_words_take(&s->words);
    shared_options_load(analysis, function_words_file(&s->words), &s->shared);
    return option_timed_function(analysis, name);
}

/* Where all calls were open at the end, as at a crash. */
#define NO_COMPLETED                                                                                                   \
    "no call was both entered and left while recording; dwell replay shows those that were open at the end"

/* A time of the line above the histogram. */
struct single_calls_time {
    const char *title;
    double ticks;
    bool below; /* the resolution of a single call */
};

static void single_calls_put_ticks(FILE *out, const struct analysis *analysis, double ticks)
{
    char text[TIME_TEXT];
    text_time((uint64_t)(ticks / (double)analysis->summary.ticks_per_second * 1e9 + 0.5), text);
    fputs(text, out);
}

/* "min, median and 90 % below the resolution (20 ns), mean 12 ns, 99 % 48 ns, max 1.2 us": zeros would look exact. */
static void single_calls_print_times(const struct analysis *analysis, const struct single_calls_time *times,
                                     size_t count)
{
    char *text;
    size_t below = 0, printed = 0, length;
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < count; i++)
        below += times[i].below;
    for (size_t i = 0; i < count; i++)
        if (times[i].below) {
            fprintf(out, "%s%s", printed == 0 ? "" : printed + 1 == below ? " and " : ", ", times[i].title);
            printed++;
        }
    if (below) {
        fputs(" below the resolution (", out);
        single_calls_put_ticks(out, analysis, (double)analysis->summary.resolution);
        fputs(")", out);
    }
    for (size_t i = 0; i < count; i++)
        if (!times[i].below) {
            fprintf(out, "%s%s ", printed++ ? ", " : "", times[i].title);
            single_calls_put_ticks(out, analysis, times[i].ticks);
        }
    need_stream_end(out);
    text_print_lines(stdout, "%s", text);
    free(text);
}

/* The function's name as text shows it. The caller frees it. */
static char *single_calls_name(const struct analysis *analysis, uint32_t function)
{
    const char *name = analysis->names[function].name;
    return text_options()->full_names ? need_copy(name, strlen(name)) : display_name(name);
}

static char *slowest_heading(const struct analysis *analysis, uint32_t function, const struct table *t,
                             enum call_time time)
{
    char *name = single_calls_name(analysis, function);
    char *heading = t->row_count ? need_text("the slowest calls of %s, by %s", name, call_time_names[time])
                                 : need_text("no completed calls of %s", name);
    free(name);
    return heading;
}

static void single_calls_print_exact(const struct analysis *analysis, const struct call_spread *spread,
                                     uint32_t function, enum call_time time)
{
    const char *selection = analysis->summary.selection;
    struct histogram h = call_spread_histogram(spread);
    char *shown = single_calls_name(analysis, function);
    text_print_lines(stdout, "%s%s%s: %s, %s:", shown, selection ? ", " : "", selection ? selection : "",
                     COUNTED(h.count, "completed call"), call_time_names[time]);
    free(shown);
    const double mean = call_spread_mean(spread);
    struct single_calls_time times[] = {
        { "min", (double)h.least, false },
        { "mean", mean, false },
        { "median", (double)histogram_percentile(&h, 50), false },
        { "90 %", (double)histogram_percentile(&h, 90), false },
        { "99 %", (double)histogram_percentile(&h, 99), false },
        { "max", (double)h.greatest, false },
    };
    enum { TIMES = sizeof times / sizeof *times, MEAN = 1 };
    for (size_t i = 0; i < TIMES; i++)
        times[i].below = times[i].ticks < (double)analysis->summary.resolution;
    times[MEAN].below = mean < 0.5 && times[MEAN].below; /* of many calls, it is known better than the time of one */
    if (h.count)
        single_calls_print_times(analysis, times, TIMES);
    else
        text_print_lines(stdout, "%s", "! " NO_COMPLETED);
    for (size_t i = 0; i < analysis->summary.missing_count; i++)
        text_print_lines(stdout, "! %s", analysis->summary.remarks[i]);
    putchar('\n');
    histogram_drop(&h);
}

/* As a word for a shell. */
static void single_calls_print_word(const char *word)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@-")]) {
        print_text(stdout, "%s", word);
        return;
    }
    char *quoted = shell_word(word);
    print_text(stdout, "%s", quoted);
    free(quoted);
}

/* The command that explains the slow calls. */
static void single_calls_print_next(const struct single_calls_settings *s, const struct table *t)
{
    if (s->shared.print != table_print_text || !t->row_count)
        return;
    fputs("dwell why ", stdout);
    for (size_t i = 0; i < s->part_count; i += 2) {
        printf("--%s ", s->part[i]);
        single_calls_print_word(s->part[i + 1]);
        putchar(' ');
    }
    single_calls_print_word(s->function);
    if (s->words.count) {
        putchar(' ');
        single_calls_print_word(s->words.words[0]);
    }
    fputs(" says what the slow calls do more of\n", stdout);
}

static const struct command_line histogram_line = {
    .name = "histogram",
    .daily = "value from to thread root filter columns format",
    .arguments = "FUNCTION [FILE]",
    .text = "Shows how long the single calls of a function took.\v"
            "Only calls that were both entered and left while recording are counted. FUNCTION is as in dwell "
            "callers.\n\nExamples:\n"
            "  dwell histogram parse\n"
            "  dwell histogram --value application_exclusive --format csv parse",
    .options = options,
    .needs = SESSION_SINGLE_CALLS,
    .shared = histogram_shared,
    .read_shared = single_calls_read_shared,
    .columns = view_histogram_columns,
    .column_count = &view_histogram_column_count,
};

int command_histogram(int argc, char **argv)
{
    struct single_calls_settings s = { .words = { .command = "histogram", .most = 1 } };
    command_line_parse(&histogram_line, argc, argv, &s, &s.shared);
    struct analysis analysis;
    const uint32_t function = single_calls_load(&analysis, &s);
    struct call_spread exact;
    struct table table = view_histogram(&analysis, function, s.time, plot_has_blocks(), &exact);
    option_filter(&table, &s.shared.filters);
    option_arrange(&table, s.shared.sort, s.shared.columns, true);
    if (s.shared.print == table_print_text)
        single_calls_print_exact(&analysis, &exact, function, s.time);
    s.shared.print(&table, stdout);
    single_calls_print_next(&s, &table);
    table_drop(&table);
    call_spread_drop(&exact);
    analysis_drop(&analysis);
    shared_options_drop(&s.shared);
    function_words_drop(&s.words);
    free(s.part);
    return finish_output();
}

static const struct command_line slowest_line = {
    .name = "slowest",
    .daily = "value from to thread root filter limit columns format",
    .arguments = "FUNCTION [FILE]",
    .text = "Lists the slowest calls of a function, and when they happened.\v"
            "TIME is from the start of the session to the call's enter. FUNCTION is as in dwell callers.\n\n"
            "Examples:\n"
            "  dwell slowest parse\n"
            "  dwell slowest -n 5 --from 1s --to 2s parse run.data",
    .options = options,
    .needs = SESSION_SINGLE_CALLS,
    .shared = slowest_shared,
    .read_shared = single_calls_read_shared,
    .columns = view_slowest_columns,
    .column_count = &view_slowest_column_count,
};

static size_t slowest_limit(const struct shared_options *s)
{
    const size_t limit = shared_is_set(s, SHARED_LIMIT) ? s->limit : USUAL_CALLS;
    if (limit > MAX_CALLS)
        die(STATUS_ERROR, "--limit: must be at most %d", MAX_CALLS);
    return limit ? limit : MAX_CALLS;
}

int command_slowest(int argc, char **argv)
{
    struct single_calls_settings s = { .words = { .command = "slowest", .most = 1 } };
    command_line_parse(&slowest_line, argc, argv, &s, &s.shared);
    const size_t limit = slowest_limit(&s.shared);
    struct analysis analysis;
    const uint32_t function = single_calls_load(&analysis, &s);
    struct table table = view_slowest(&analysis, function, s.time, s.shared.filters.count ? MAX_CALLS : limit);
    if (!table.row_count)
        summary_remark(&analysis.summary, "no-completed-calls", "%s", NO_COMPLETED);
    option_filter(&table, &s.shared.filters);
    table_limit(&table, limit);
    table.hidden_rows = 0; /* the user chose how many */
    option_arrange(&table, s.shared.sort, s.shared.columns, true);
    table.heading = slowest_heading(&analysis, function, &table, s.time);
    s.shared.print(&table, stdout);
    single_calls_print_next(&s, &table);
    table_drop(&table);
    analysis_drop(&analysis);
    shared_options_drop(&s.shared);
    function_words_drop(&s.words);
    free(s.part);
    return finish_output();
}
