/* The first screens of `dwell report` and `dwell tree`: what uses the CPU, and the calls in which threads wait. */
#include "tables/first_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/units.h"
#include "tables/row_order.h"
#include "tables/wait_rows.h"

enum { WORK_NAME_ROOM = 30, WAIT_NAME_ROOM = 30 };

/* Lines that are not rows, besides those above and below the tables: two tables with an empty line, a heading, column
 * names and a line for hidden rows, and the shell's or the pager's prompt. */
enum { OTHER_LINES = 2 * 4 + 1, LEAST_WORK = 4, LEAST_WAITS = 3 };

#define WORK_COLUMNS                                                                                                   \
    "cpu_exclusive,cpu_exclusive_percent,cpu_inclusive,cpu_inclusive_percent,elapsed_exclusive,elapsed_inclusive,"     \
    "application_exclusive,application_inclusive,calls"

bool first_screen_is_known(const struct summary *summary)
{
    return summary->off_cpu_known && !summary->imported && !summary->samples;
}

static double first_screen_share(const struct summary *summary, enum value_id value)
{
    return percent_of(times_value(&summary->sums, value, INCLUSIVE), summary->elapsed_inclusive);
}

char *first_screen_work_heading(const struct summary *summary, const char *order)
{
    return need_text("Work, by %s: elapsed time is %.1f %% CPU time, %.1f %% preempted", order,
                     first_screen_share(summary, VALUE_CPU), first_screen_share(summary, VALUE_PREEMPTED));
}

struct table view_work(const struct analysis *analysis)
{
    static const char *const optional[] = {
        "source",
        "application_inclusive",
        "cpu_inclusive_percent",
        "module",
        "application_exclusive",
        "elapsed_inclusive",
        "cpu_inclusive",
        NULL,
    };
    const struct sorting sums = { .key = NULL };
    struct table t = view_rows(analysis, BY_FUNCTION, &sums);
    table_prefer(&t, analysis->summary.partly_timed ? WORK_COLUMNS ",timed_calls" : WORK_COLUMNS, optional,
                 WORK_NAME_ROOM);
    t.heading = first_screen_work_heading(&analysis->summary, "exclusive CPU time");
    return t;
}

char *first_screen_wait_heading(const struct summary *summary)
{
    if (!times_value(&summary->sums, VALUE_BLOCKED, INCLUSIVE))
        return need_text("Waits: no thread was blocked");
    return need_text("Waits, by blocked time: %.1f %% of elapsed time is blocked",
                     first_screen_share(summary, VALUE_BLOCKED));
}

struct table view_waits(const struct analysis *analysis)
{
    static const char *const optional[] = { "source", "threads_percent", "calls", "threads", NULL };
    struct table t = wait_rows(analysis);
    table_prefer(&t, "blocked_exclusive,blocked_exclusive_percent,threads_percent,calls", optional, WAIT_NAME_ROOM);
    t.dim_column = 0; /* all of them wait */
    t.heading = first_screen_wait_heading(&analysis->summary);
    return t;
}

static size_t first_screen_clamp(size_t rows, size_t least, size_t most)
{
    return rows < least ? least : rows > most ? most : rows;
}

struct first_screen_rows first_screen_fit(size_t lines, size_t around, size_t waits)
{
    const size_t room = !lines ? 30 : less(lines, OTHER_LINES + around);
    const size_t wait_rows = first_screen_clamp(room / 3, LEAST_WAITS, 10),
                 used = waits < wait_rows ? waits : wait_rows;
    return (struct first_screen_rows){
        .work = !lines ? 20 : first_screen_clamp(room > used ? room - used : 0, LEAST_WORK, 20),
        .waits = wait_rows,
    };
}

bool first_screen_has_room(size_t lines, size_t around, size_t waits)
{
    const size_t used = waits < LEAST_WAITS ? waits : LEAST_WAITS;
    return !lines || less(lines, OTHER_LINES + around) >= LEAST_WORK + used;
}

struct table view_longest_waits(const struct analysis *analysis, size_t limit)
{
    struct table t = view_waits(analysis);
    const size_t all = t.row_count;
    struct error error = { NULL };
    table_sort(&t, "blocked_exclusive", &error);
    error_drop(&error);
    table_limit(&t, limit);
    if (t.hidden_rows) {
        char *heading = need_text("%s; the longest %zu of %zu", t.heading, t.row_count, all);
        free(t.heading);
        t.heading = heading;
    }
    t.hidden_rows = 0;
    return t;
}
