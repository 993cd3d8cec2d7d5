/* The functions of a program that runs, refreshed. */
#include "commands/top.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/duration.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/find_session.h"
#include "commands/selection_options.h"

enum { OPTION_BY = 256, OPTION_COLUMNS, OPTION_COUNT, OPTION_FORMAT, OPTION_JOBS, OPTION_ONCE };

static const struct argp_option options[] = {
    { "by", OPTION_BY, "WHAT", 0, "A row for each function (default), module, thread or process", 0 },
    { "sort", 's', "COLUMN", 0, "Largest first (default: what takes most time now); or name", 0 },
    { "columns", OPTION_COLUMNS, "KEYS", 0, "Show these columns (help: list them), separated by commas", 0 },
    { "interval", 'i', "TIME", 0, "Refresh that often: seconds, or such as 500ms (default: 2)", 0 },
    { "once", OPTION_ONCE, NULL, 0, "Print one table, after one interval, and end; at once where the program has ended",
      0 },
    { "count", OPTION_COUNT, "N", 0, "Print N tables, one an interval, and end", 0 },
    { "limit", 'n', "N", 0,
      "At most N rows in a table that is printed (default: 40 in text, all in csv and json; 0: all)", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "Of printed tables: text (default), csv or json", 0 },
    { "jobs", OPTION_JOBS, "N", 0, "Threads that read the session (default: one a CPU)", 0 },
    { 0 },
};

enum { TEXT_LIMIT = 40 };

struct top_command_settings {
    struct top_settings top;
    const char *target;  /* a PID or a file */
    unsigned long count; /* of tables to be printed; zero: the screen */
    size_t limit;
    bool limited;
    table_printer *print;
    struct analysis_options load;
};

/* ---- options ---- */

static const char live_columns[] = "calls_per_second,recent_elapsed_exclusive_percent,elapsed_exclusive,"
                                   "elapsed_exclusive_percent,elapsed_inclusive,calls,application_exclusive";
static const char ended_columns[] = "calls,elapsed_inclusive,elapsed_exclusive,elapsed_exclusive_percent,"
                                    "application_inclusive,application_exclusive";

static void top_parse_by(struct top_command_settings *s, const char *text)
{
    static const char *const names[] = { "function", "module", "thread", "process" };
    static const enum rollup_by ways[] = { BY_FUNCTION, BY_MODULE, BY_THREAD, BY_PROCESS };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], text) == 0) {
            s->top.by = ways[i];
            return;
        }
    }
    option_refuse("--by", text, "function, module, thread, process");
}

static uint64_t top_parse_interval(const char *text)
{
    const uint64_t least = 10000000, most = 86400000000000;
    uint64_t ns;
    char *end;
    const double seconds = strtod(text, &end);
    if (end != text && !*end && seconds >= 0 && seconds < 1e6)
        ns = (uint64_t)(seconds * 1e9);
    else if (!duration_parse(text, &ns))
        die(STATUS_ERROR, "--interval: '%s' is neither seconds nor a time such as 500ms", text);
    if (ns < least || ns > most)
        die(STATUS_ERROR, "--interval: must be from 10ms to a day");
    return ns;
}

static const char *top_parse_columns(const char *text)
{
    if (strcmp(text, "help") != 0)
        return text;
    view_list_columns(stdout, true);
    exit(finish_output());
}

static error_t top_parse_option(int key, char *argument, struct argp_state *state)
{
    struct top_command_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return filter_raw_options_begin(state, &s->top.filters, &s->load);
    case OPTION_BY:
        top_parse_by(s, argument);
        return 0;
    case 's':
        s->top.sort = option_sort(argument, true);
        return 0;
    case OPTION_COLUMNS:
        s->top.columns = top_parse_columns(argument);
        return 0;
    case 'i':
        s->top.interval = top_parse_interval(argument);
        return 0;
    case OPTION_ONCE:
        s->count = 1;
        return 0;
    case OPTION_COUNT:
        s->count = option_number("--count", argument);
        if (s->count == 0)
            die(STATUS_ERROR, "--count: must be at least 1");
        return 0;
    case 'n':
        s->limit = option_number("--limit", argument);
        s->limited = true;
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case OPTION_JOBS:
        s->load.jobs = option_jobs(argument);
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
    printf("%s, %s\n", state, rates);
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
        struct table t = top_table(&s->top, live, false, s->limit);
        if (s->print == table_print_text) {
            fputs(i ? "\n" : "", stdout);
            top_print_state(live);
        }
        s->print(&t, stdout);
        table_drop(&t);
        const int status = finish_output();
        if (status != STATUS_OK || !alive)
            return status;
    }
    return STATUS_OK;
}

/* ---- the command ---- */

static bool top_is_pid(const char *text)
{
    const char *at = text;
    while (isdigit((unsigned char)*at))
        at++;
    return at > text && !*at;
}

static struct live *top_open_target(const char *target, const struct analysis_options *load)
{
    struct error error = { NULL };
    const char *path = target ? target : DEFAULT_SESSION;
    char *found = target && top_is_pid(target) ? find_session((uint32_t)option_number("PID", target)) : NULL;
    struct live *live = live_open(found ? found : path, path, load, &error);
    if (!live)
        die_of(&error);
    free(found);
    return live;
}

int command_top(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        top_parse_option,
        "[PID | FILE]",
        "Shows the functions of a running program that is being recorded (the process PID, or dwell.data), refreshed, "
        "from its session file.\v"
        "Keys: < and > choose the column to sort by, s one by its name, / filters, Enter opens callers and callees, "
        "f, m, t and r show functions, modules, threads and processes, i what happened since the last refresh alone, "
        "p pauses, h helps, q quits.\n\n"
        "Examples:\n"
        "  dwell top\n"
        "  dwell top --sort calls_per_second --filter 'name~parse*' 1234\n"
        "  dwell top --once --format csv 1234",
        filter_raw_children,
        NULL,
        NULL,
    };
    struct top_command_settings s = {
        .top = { .interval = 2000000000, .by = BY_FUNCTION },
        .print = table_print_text,
    };
    parse_options_with_config(&argp, "top", argc, argv, &s);
    if (!s.count && !(isatty(STDOUT_FILENO) && isatty(STDIN_FILENO)))
        die(STATUS_ERROR, "top: here is no terminal; --once or --count N print tables");
    if (s.top.columns && view_needs_calls(s.top.columns))
        die(STATUS_ERROR, "--columns: columns of single calls are there in dwell report alone");
    if (!s.limited && s.print == table_print_text)
        s.limit = TEXT_LIMIT;
    struct live *live = top_open_target(s.target, &s.load);
    const int status = s.count ? top_print_tables(live, &s) : top_show(live, &s.top);
    live_close(live);
    row_filters_drop(&s.top.filters);
    return status;
}
