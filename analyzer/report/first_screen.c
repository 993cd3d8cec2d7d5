/* The first screens of `dwell report` and `dwell tree`: what uses the CPU, and the calls in which threads wait. */
#include "report/first_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "report/row_order.h"
#include "report/wait_rows.h"

enum { WORK_NAME_ROOM = 30, WAIT_NAME_ROOM = 30 };

bool first_screen_is_known(const struct summary *s)
{
    return s->off_cpu_known && !s->imported && !s->samples;
}

static double first_screen_share(const struct summary *s, enum value_id value)
{
    return percent_of(times_value(&s->sums, value, INCLUSIVE), s->elapsed_inclusive);
}

char *first_screen_work_heading(const struct summary *s, const char *order)
{
    return need_text("Work, by %s: %.1f %% of elapsed time is CPU time, %.1f %% preempted", order,
                     first_screen_share(s, VALUE_CPU), first_screen_share(s, VALUE_PREEMPTED));
}

struct table view_work(const struct analysis *l)
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
    struct table t = view_rows(l, BY_FUNCTION, &sums);
    table_prefer(&t,
                 "cpu_exclusive,cpu_exclusive_percent,cpu_inclusive,cpu_inclusive_percent,elapsed_exclusive,"
                 "elapsed_inclusive,application_exclusive,application_inclusive,calls",
                 optional, WORK_NAME_ROOM);
    t.heading = first_screen_work_heading(&l->summary, "exclusive CPU time");
    return t;
}

static char *first_screen_wait_heading(const struct summary *s)
{
    if (!times_value(&s->sums, VALUE_BLOCKED, INCLUSIVE))
        return need_text("Waits: no thread was blocked");
    return need_text("Waits, by blocked time: %.1f %% of elapsed time is blocked",
                     first_screen_share(s, VALUE_BLOCKED));
}

struct table view_waits(const struct analysis *l)
{
    static const char *const optional[] = { "source", "threads_percent", "calls", "threads", NULL };
    struct table t = wait_rows(l);
    table_prefer(&t, "blocked_exclusive,blocked_exclusive_percent,threads_percent,calls", optional, WAIT_NAME_ROOM);
    t.dim_column = 0; /* all of them wait */
    t.heading = first_screen_wait_heading(&l->summary);
    return t;
}

struct table view_longest_waits(const struct analysis *l, size_t limit)
{
    struct table t = view_waits(l);
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
