/* dwell top: the functions of a running program, refreshed. This file has its options and plain tables. */
#include "commands/top_command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/command_line.h"
#include "commands/commands.h"
#include "recorder/find_session.h"
#include "report/text_lines.h"
#include "tables/percentiles.h"
#include "tables/views.h"

static const struct shared_use shared[] = {
    { SHARED_FILTER, NULL },
    { SHARED_SORT, "(default: what takes most time now)" },
    { SHARED_LIMIT, "(default: 40 in text); with --once and --count" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, "with --once and --count" },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_END, NULL },
};

enum { TEXT_LIMIT = 40 };

struct top_command_settings {
    struct shared_options shared;
    struct top_settings top;
    const char *target;  /* a PID or a file */
    unsigned long count; /* of printed tables; zero for the screen */
};

/* ---- options ---- */

static const char live_columns[] = "calls_per_second,recent_elapsed_exclusive_percent,elapsed_exclusive,"
                                   "elapsed_exclusive_percent,elapsed_inclusive,calls,application_exclusive";
static const char ended_columns[] = "calls,elapsed_inclusive,elapsed_exclusive,elapsed_exclusive_percent,"
                                    "application_inclusive,application_exclusive";

const char *const top_optional_columns[] = { "source", "module", NULL };

static void top_refuse_filter(void *settings, const struct option_row *row, char *argument)
{
    (void)settings, (void)row, (void)argument;
    die(STATUS_ERROR, "top shows all calls as they are recorded; give --only, --suppress, --ignore, --min-duration "
                      "and --depth to dwell record, or to dwell report after it");
}

static const struct option_word ways[] = { { "function", BY_FUNCTION },
                                           { "module", BY_MODULE },
                                           { "thread", BY_THREAD },
                                           { "process", BY_PROCESS },
                                           { NULL, 0 } };

static const struct option_row options[] = {
    { "by", "WHAT", "A row for each function (default), module, thread or process",
      STORE_CHOICE(struct top_command_settings, top.by, ways) },
    { "interval", "TIME", "Refresh every TIME (default: 2s)",
      STORE_DURATION(struct top_command_settings, top.interval, 10000000, 86400000000000, "must be from 10ms to a day"),
      .letter = 'i' },
    { "once", NULL, "Print one table after one interval and end; at once if the program has ended",
      STORE_VALUE(struct top_command_settings, count, 1) },
    { "count", "N", "Print N tables, one an interval, and end",
      STORE_NUMBER(struct top_command_settings, count, 1, SIZE_MAX, "must be at least 1") },
    { "only", "PATTERN", NULL, READ_BY(top_refuse_filter), .hidden = true },
    { "suppress", "PATTERN", NULL, READ_BY(top_refuse_filter), .hidden = true },
    { "ignore", "PATTERN", NULL, READ_BY(top_refuse_filter), .hidden = true },
    { "min-duration", "TIME", NULL, READ_BY(top_refuse_filter), .hidden = true },
    { "depth", "N", NULL, READ_BY(top_refuse_filter), .hidden = true },
    { TAKE_SESSION(struct top_command_settings, target) },
    { 0 },
};

static bool top_read_shared(void *settings, enum shared_option option, const char *argument)
{
    (void)settings;
    if (option == SHARED_SORT)
        option_check_sort(argument, true);
    if (option == SHARED_COLUMNS && strcmp(argument, "help") == 0) {
        view_list_columns(stdout, true);
        exit(finish_output());
    }
    return false;
}

/* ---- tables ---- */

const char *top_sort(const struct top_settings *s, const struct live *live)
{
    if (s->sort)
        return s->sort;
    const bool works = live->times.rollup && live->times.rollup->session.elapsed_inclusive > 0;
    return works ? "recent_elapsed_exclusive" : "elapsed_exclusive";
}

const char *top_columns(const struct top_settings *s, const struct live *live)
{
    if (s->columns)
        return s->columns;
    return live->times.rollup ? live_columns : ended_columns;
}

struct table top_table(const struct top_settings *s, const struct live *live, bool recent, size_t limit)
{
    const struct sorting sorting = {
        .key = top_sort(s, live),
        .limit = limit,
        .filters = &s->filters,
        .recent = &live->times,
    };
    struct table t = view_rows(recent && live->recent.rollup ? &live->recent : &live->whole, s->by, &sorting);
    option_order(&t, &sorting);
    option_choose(&t, top_columns(s, live));
    t.optional = top_optional_columns;
    return t;
}

/* ---- plain ---- */

static void top_read_more(struct live *live)
{
    struct error error = { NULL };
    uint64_t left;
    do {
        if (!live_read(live, &left, &error))
            die_of(&error);
    } while (left);
}

static void top_wait(uint64_t ns)
{
    struct timespec rest = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    while (nanosleep(&rest, &rest) < 0)
        continue;
}

static void top_print_state(const struct live *live)
{
    char *state = live_describe(live), *rates = live_describe_rates(live);
    text_print_lines(stdout, "%s, %s", state, rates);
    free(state);
    free(rates);
}

static int top_print_tables(struct live *live, const struct top_command_settings *s)
{
    top_read_more(live);
    for (unsigned long i = 0; i < s->count; i++) {
        const bool alive = live->follow->alive;
        if (alive) {
            top_wait(s->top.interval);
            top_read_more(live);
        }
        struct table t = top_table(&s->top, live, false, s->shared.limit);
        if (s->shared.print == table_print_text) {
            t.summary_first = true; /* as on a screen, where rows may leave no room below them */
            fputs(i ? "\n" : "", stdout);
            top_print_state(live);
        }
        s->shared.print(&t, stdout);
        table_drop(&t);
        const int status = finish_output();
        if (status != STATUS_OK || !alive)
            return status;
    }
    return STATUS_OK;
}

/* ---- the command ---- */

static struct live *top_open_target(const char *target, const struct analysis_options *load)
{
    struct error error = { NULL };
    const char *path = target ? target : DEFAULT_SESSION;
    char *found = NULL;
    if (target && option_is_pid(target)) {
        found = find_session((uint32_t)option_number("PID", target), &error);
        if (!found)
            die_of(&error);
    }
    struct live *live = live_open(found ? found : path, path, load, &error);
    if (!live)
        die_of(&error);
    free(found);
    return live;
}

static const struct command_line line = {
    .name = "top",
    .daily = "by interval once count filter sort limit columns format",
    .arguments = "[PID | FILE]",
    .text = "Shows the functions of a running program that is being recorded, and refreshes them. PID is one of its "
            "processes, FILE its session (default: dwell.data).\v"
            "Keys: < and > choose the column to sort by, s chooses one by its name, / filters, Enter opens callers and "
            "callees; f, m, t and r show functions, modules, threads and processes; i shows what happened since the "
            "last refresh alone, p pauses, h helps, q quits.\n\n"
            "Examples:\n"
            "  dwell top\n"
            "  dwell top --sort calls_per_second --filter 'parse*' 1234\n"
            "  dwell top --once --format csv 1234",
    .options = options,
    .shared = shared,
    .read_shared = top_read_shared,
};

/* Ends the program if an option does not fit the way of printing. */
static void top_check_settings(const struct top_command_settings *s)
{
    if (!s->count && !(isatty(STDOUT_FILENO) && isatty(STDIN_FILENO)))
        die(STATUS_ERROR, "top: standard %s is not a terminal; print tables with --once or --count N",
            isatty(STDOUT_FILENO) ? "input" : "output");
    if (!s->count && s->shared.typed & (UINT64_C(1) << SHARED_LIMIT | UINT64_C(1) << SHARED_FORMAT))
        die(STATUS_ERROR, "--%s: only with --once or --count N",
            s->shared.typed & UINT64_C(1) << SHARED_LIMIT ? "limit" : "format");
    if (s->shared.columns && (view_needs_calls(s->shared.columns) || percentiles_are_named(s->shared.columns)))
        die(STATUS_ERROR, "--columns: only dwell report has columns of single calls");
}

int command_top(int argc, char **argv)
{
    struct top_command_settings s = { .top = { .interval = 2000000000, .by = BY_FUNCTION } };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    top_check_settings(&s);
    if (!shared_is_set(&s.shared, SHARED_LIMIT) && s.shared.print == table_print_text)
        s.shared.limit = TEXT_LIMIT;
    s.top.sort = s.shared.sort;
    s.top.columns = s.shared.columns;
    s.top.filters = s.shared.filters; /* the screen changes them */
    s.shared.filters = (struct row_filters){ 0 };
    struct live *live = top_open_target(s.target, &s.shared.load);
    const int status = s.count ? top_print_tables(live, &s) : top_show(live, &s.top);
    live_close(live);
    row_filters_drop(&s.top.filters);
    shared_options_drop(&s.shared);
    return status;
}
