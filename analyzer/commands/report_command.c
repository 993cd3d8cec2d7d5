/* dwell report: reads its options and prints the times of functions, lines, modules, threads or processes. */
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/sessions.h"
#include "report/opening.h"
#include "report/summary_markdown.h"
#include "tables/first_screen.h"
#include "tables/hot.h"
#include "tables/row_probes.h"

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },
    { SHARED_CALLS, NULL },
    { SHARED_FILTER, NULL },
    { SHARED_SORT, "(default with --by or --columns: elapsed_exclusive; of lines elapsed_inclusive)" },
    { SHARED_LIMIT, "of each table (default in text: 40, or 20 functions and 10 waits, fewer on a small terminal)" },
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

enum { TEXT_LIMIT = 40 };

typedef struct table table_view(const struct analysis *analysis);

/* What a row is, by --by; the usual one is that of functions. */
enum report_way {
    WAY_USUAL,
    WAY_FUNCTION,
    WAY_LINE,
    WAY_MODULE,
    WAY_MODULE_FUNCTION,
    WAY_THREAD,
    WAY_THREAD_NAME,
    WAY_PROCESS
};

static const struct option_word ways[] = {
    { "function", WAY_FUNCTION }, { "line", WAY_LINE },
    { "module", WAY_MODULE },     { "module-function", WAY_MODULE_FUNCTION },
    { "thread", WAY_THREAD },     { "thread-name", WAY_THREAD_NAME },
    { "process", WAY_PROCESS },   { NULL, 0 },
};

static const struct report_rows {
    enum rollup_by by;
    table_view *view; /* NULL for view_rows */
} report_rows[] = {
    [WAY_USUAL] = { BY_FUNCTION, NULL },
    [WAY_FUNCTION] = { BY_FUNCTION, NULL },
    [WAY_LINE] = { BY_LINE, view_lines },
    [WAY_MODULE] = { BY_MODULE, NULL },
    [WAY_MODULE_FUNCTION] = { BY_MODULE, view_module_functions },
    [WAY_THREAD] = { BY_THREAD, NULL },
    [WAY_THREAD_NAME] = { BY_THREAD, view_thread_names },
    [WAY_PROCESS] = { BY_PROCESS, NULL },
};

struct report_settings {
    struct shared_options shared;
    struct session_list sessions;
    enum report_way way;
    bool hot, summary;
};

static const struct option_row options[] = {
    { "by", "WHAT",
      "A row for each function (default), line (that makes calls), module, module-function (modules with their "
      "functions), thread, thread-name or process",
      STORE_CHOICE(struct report_settings, way, ways) },
    { "hot", NULL, "Only the functions, sorted by exclusive time on the CPU", STORE_FLAG(struct report_settings, hot) },
    { "summary", NULL,
      "In at most 40 lines of Markdown, for comments on changes and for chats: the answer and the ten rows that matter",
      STORE_FLAG(struct report_settings, summary) },
    { TAKE_SESSIONS(struct report_settings, sessions) },
    { 0 },
};

static const struct command_line line = {
    .name = "report",
    .daily = "by summary from to thread root filter sort limit columns format",
    .arguments = "[FILE...]",
    .text =
        "Reports the times of each function, line, module, thread or process of one or more sessions "
        "(default: dwell.data).\v"
        "Where CPU times are known, text shows the functions by exclusive CPU time, and then the waits: the calls in "
        "which threads were blocked, with the function that called them. THREAD % is their share of the threads' "
        "elapsed time. --by, --sort, --columns, csv and json have one table of the four times.\n\n"
        "The four times are elapsed inclusive, elapsed exclusive, application inclusive and application exclusive. "
        "Percentages of elapsed times are of the session's elapsed inclusive time, those of application times of "
        "its application inclusive time. A star after APP. says that application time is more than 10 % below CPU time: "
        "it leaves out whole intervals, so read CPU time.\n\nExamples:\n"
        "  dwell report\n"
        "  dwell report --by function\n"
        "  dwell report --summary run.data\n"
        "  dwell report --by module --sort calls -n 10\n"
        "  dwell report --columns calls,elapsed_inclusive --filter 'parse*'\n"
        "  dwell report --from mark:loaded --thread 'worker*' run.data\n"
        "  dwell report --format csv run-*.data",
    .options = options,
    .shared = shared,
    .read_shared = option_read_times,
};

static struct sorting report_sorting(const struct report_settings *s)
{
    struct sorting sorting = { .key = s->shared.sort, .limit = s->shared.limit, .filters = &s->shared.filters };
    if (!sorting.key)
        sorting.key = s->way == WAY_LINE ? "elapsed_inclusive" : "elapsed_exclusive";
    if (!shared_is_set(&s->shared, SHARED_LIMIT) && s->shared.print == table_print_text)
        sorting.limit = TEXT_LIMIT;
    sorting.call_times = view_call_times(sorting.key) | view_call_times(s->shared.columns);
    for (size_t i = 0; i < s->shared.filters.count; i++)
        sorting.call_times |= view_call_times(s->shared.filters.list[i].key);
    sorting.calls = sorting.call_times != 0;
    return sorting;
}

/* Whether the report is that of the work and the waits. */
static bool report_has_first_screen(const struct report_settings *s, const struct sorting *sorting,
                                    const struct analysis *analysis)
{
    const bool arranged = s->way != WAY_USUAL || s->shared.sort || s->shared.columns || sorting->calls;
    return !arranged && s->shared.print == table_print_text && first_screen_is_known(&analysis->summary);
}

static void report_order_part(const struct report_settings *s, struct table *table, const char *key, size_t limit)
{
    const struct sorting sorting = {
        .key = key,
        .limit = shared_is_set(&s->shared, SHARED_LIMIT) ? s->shared.limit : limit,
        .filters = &s->shared.filters,
    };
    option_order(table, &sorting);
}

static void report_put(char *text)
{
    fputs(text, stdout);
    free(text);
}

/* What to ask next: a line of at most 80, also behind the number of remarks, which has named dwell. */
static const char *report_hint(const struct analysis *analysis)
{
    static const char *const hints[2][2] = {
        { "next: dwell diff A B (changes), report --by function", "next: diff A B (changes), report --by function" },
        { "next: dwell why F (slow calls), diff A B (changes), report --by function",
          "next: why F (slow calls), diff A B, report --by function" },
    };
    const bool has_calls = !session_file_why_sums(analysis->file) && analysis->profile->counts.exits;
    return hints[has_calls][summary_count_special(&analysis->summary) > 0];
}

/* What follows the tables. Remarks about rows must have been added. */
static char *report_closing(const struct analysis *analysis, size_t remark_lines)
{
    return closing_text(&analysis->summary, report_hint(analysis), terminal_width(stdout), remark_lines);
}

static void report_order_work(const struct report_settings *s, struct analysis *analysis, struct table *work,
                              size_t limit)
{
    report_order_part(s, work, "cpu_exclusive", limit);
    row_probes_remark(&analysis->summary, work);
    work->follows = work->own_summary = true;
}

static void report_print_hot(const struct report_settings *s, struct analysis *analysis)
{
    struct table work = view_work(analysis);
    report_order_work(s, analysis, &work, TEXT_LIMIT);
    report_put(opening_text(analysis, terminal_width(stdout)));
    s->shared.print(&work, stdout);
    table_drop(&work);
    report_put(closing_text(&analysis->summary, NULL, terminal_width(stdout), USUAL_REMARK_LINES));
}

/* Both tables and what stands around them share the screen. A remark about the rows of work can take lines from them.
 */
static void report_print_first_screen(const struct report_settings *s, struct analysis *analysis)
{
    const size_t lines = terminal_height(stdout);
    struct table work = view_work(analysis), waits = view_waits(analysis);
    char *opening = opening_text(analysis, terminal_width(stdout)),
         *closing = report_closing(analysis, USUAL_REMARK_LINES);
    struct first_screen_rows rows = first_screen_fit(lines, text_lines(opening) + text_lines(closing), waits.row_count);
    report_order_work(s, analysis, &work, rows.work);
    free(closing);
    closing = report_closing(analysis, USUAL_REMARK_LINES);
    if (!first_screen_has_room(lines, text_lines(opening) + text_lines(closing), waits.row_count)) {
        free(closing);
        closing = report_closing(analysis, USUAL_REMARK_LINES - 1);
    }
    rows = first_screen_fit(lines, text_lines(opening) + text_lines(closing), waits.row_count);
    if (!shared_is_set(&s->shared, SHARED_LIMIT))
        table_limit(&work, rows.work);
    waits.follows = waits.own_summary = true;
    report_order_part(s, &waits, "blocked_exclusive", rows.waits);
    report_put(opening);
    s->shared.print(&work, stdout);
    s->shared.print(&waits, stdout);
    table_drop(&work);
    table_drop(&waits);
    report_put(closing);
}

static void report_check_summary(const struct report_settings *s)
{
    if (s->summary && (s->way != WAY_USUAL || s->hot || s->shared.sort || s->shared.columns ||
                       shared_is_set(&s->shared, SHARED_LIMIT) || s->shared.print != table_print_text))
        die(STATUS_ERROR, "--summary: is Markdown with rows of its own; it goes with the options for a part of the "
                          "session and --filter, and not with --by, --hot, --sort, --limit, --columns or --format");
}

static void report_print_summary(const struct report_settings *s, struct analysis *analysis)
{
    const bool by_cpu = first_screen_is_known(&analysis->summary);
    const char *key = by_cpu ? "cpu_exclusive" : "elapsed_exclusive";
    const struct sorting sums = { .key = NULL };
    struct table work = by_cpu ? view_work(analysis) : view_rows(analysis, BY_FUNCTION, &sums), waits;
    if (by_cpu) {
        waits = view_waits(analysis);
        report_order_part(s, &waits, "blocked_exclusive", SUMMARY_WAITS);
    }
    report_order_part(s, &work, key, SUMMARY_ROWS - (by_cpu ? waits.row_count : 0));
    row_probes_remark(&analysis->summary, &work);
    summary_print_markdown(analysis, &work, key, by_cpu ? &waits : NULL, stdout);
    table_drop(&work);
    if (by_cpu)
        table_drop(&waits);
}

/* The rows, and then the waits as on the first screen; null where none are known. */
static void report_print_json(const struct report_settings *s, const struct analysis *analysis,
                              const struct table *rows)
{
    json_print_open(rows, stdout);
    fputs(",\n ", stdout);
    if (first_screen_is_known(&analysis->summary)) {
        struct table waits = view_waits(analysis);
        const struct sorting sorting = { .key = "blocked_exclusive", .limit = s->shared.limit };
        option_order(&waits, &sorting);
        table_print_json_rows(&waits, "waits", stdout);
        table_drop(&waits);
    } else {
        fputs("\"waits\": null", stdout);
    }
    fputs("}\n", stdout);
}

static void report_print_rows(const struct report_settings *s, struct analysis *analysis, struct sorting sorting)
{
    const struct report_rows *rows = &report_rows[s->way];
    const bool text = s->shared.print == table_print_text;
    const struct hot_measure *hot = s->hot ? hot_measure_of(&analysis->summary) : NULL;
    const char *columns = s->shared.columns ? s->shared.columns : hot ? hot->columns : NULL;
    if (hot && !s->shared.sort) {
        sorting.key = hot->key;
        sorting.waiting_last = true;
    }
    struct table table = rows->view ? rows->view(analysis) : view_rows(analysis, rows->by, &sorting);
    option_order(&table, &sorting);
    row_probes_remark(&analysis->summary, &table);
    if (columns)
        option_choose(&table, columns);
    table.follows = table.own_summary = text;
    if (text) {
        report_put(opening_text(analysis, terminal_width(stdout)));
        fputs(table.row_count ? "\n" : "", stdout);
    }
    if (s->shared.print == table_print_json)
        report_print_json(s, analysis, &table);
    else
        s->shared.print(&table, stdout);
    table_drop(&table);
    if (text)
        report_put(closing_text(&analysis->summary, NULL, terminal_width(stdout), USUAL_REMARK_LINES));
}

int command_report(int argc, char **argv)
{
    struct report_settings s = { .way = WAY_USUAL };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    s.shared.load.lines = s.way == WAY_LINE ? LINES_NEEDED : LINES_NONE;
    const struct sorting sorting = report_sorting(&s);
    if (sorting.calls && report_rows[s.way].by != BY_FUNCTION)
        die(STATUS_ERROR, "--by: only functions have columns of single calls, such as min; choose other columns");
    report_check_summary(&s);
    session_list_unique(&s.sessions);
    if (sorting.calls)
        session_list_need_one(&s.sessions, "columns of single calls, such as min,");
    struct analysis loaded;
    session_list_load(&s.sessions, &loaded, &s.shared);
    if (s.summary)
        report_print_summary(&s, &loaded);
    else if (!report_has_first_screen(&s, &sorting, &loaded))
        report_print_rows(&s, &loaded, sorting);
    else if (s.hot)
        report_print_hot(&s, &loaded);
    else
        report_print_first_screen(&s, &loaded);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    session_list_drop(&s.sessions);
    return finish_output();
}
