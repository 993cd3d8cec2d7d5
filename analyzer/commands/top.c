/* dwell top: the functions of a running program, refreshed. This file has its options and plain tables. */
#include "commands/top.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "recorder/find_session.h"
#include "report/views.h"

enum { OPTION_BY = 256, OPTION_COUNT, OPTION_ONCE, OPTION_CALLS };

static const struct argp_option options[] = {
    { "by", OPTION_BY, "WHAT", 0, "A row for each function (default), module, thread or process", 0 },
    { "interval", 'i', "TIME", 0, "Refresh every TIME (default: 2s)", 0 },
    { "once", OPTION_ONCE, NULL, 0, "Print one table after one interval and end; at once if the program has ended", 0 },
    { "count", OPTION_COUNT, "N", 0, "Print N tables, one an interval, and end", 0 },
    { "only", OPTION_CALLS, "PATTERN", OPTION_HIDDEN, NULL, 0 },
    { "suppress", OPTION_CALLS, "PATTERN", OPTION_HIDDEN, NULL, 0 },
    { "ignore", OPTION_CALLS, "PATTERN", OPTION_HIDDEN, NULL, 0 },
    { "min-duration", OPTION_CALLS, "TIME", OPTION_HIDDEN, NULL, 0 },
    { "depth", OPTION_CALLS, "N", OPTION_HIDDEN, NULL, 0 },
    { 0 },
};

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

static uint64_t top_parse_interval(const char *text)
{
    const uint64_t least = 10000000, most = 86400000000000;
    const uint64_t ns = option_time("--interval", text);
    if (ns < least || ns > most)
        die(STATUS_ERROR, "--interval: must be from 10ms to a day");
    return ns;
}

static error_t top_parse_option(int key, char *argument, struct argp_state *state)
{
    static const struct {
        const char *name;
        enum rollup_by by;
    } ways[] = {
        { "function", BY_FUNCTION }, { "module", BY_MODULE }, { "thread", BY_THREAD }, { "process", BY_PROCESS }
    };
    struct top_command_settings *s = state->input;
    switch (key) {
    case OPTION_BY:
        s->top.by = option_choice("--by", argument, ways)->by;
        return 0;
    case 'i':
        s->top.interval = top_parse_interval(argument);
        return 0;
    case OPTION_ONCE:
        s->count = 1;
        return 0;
    case OPTION_CALLS:
        die(STATUS_ERROR, "top shows all calls as they are recorded; give --only, --suppress, --ignore, --min-duration "
                          "and --depth to dwell record, or to dwell report after it");
    case OPTION_COUNT:
        s->count = option_number("--count", argument);
        if (s->count == 0)
            die(STATUS_ERROR, "--count: must be at least 1");
        return 0;
    case ARGP_KEY_ARG:
        if (s->target)
            die(STATUS_ERROR, "one session at a time: '%s' is a second one", argument);
        s->target = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

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
    print_text(stdout, "%s, %s\n", state, rates);
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
    .parse = top_parse_option,
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
    if (s->shared.columns && view_needs_calls(s->shared.columns))
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
