/* How the rows of the reports know their times: rows for functions, modules, threads and processes. Intervals of groups
 * are no sums of those of their paths, so they are stored. */
#include "export/sqlite_timing.h"

#include <stdlib.h>

#include "base/memory.h"

void sqlite_make_timing_tables(struct database *d)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    database_run(d, "CREATE TABLE counted (function INTEGER REFERENCES function, thread INTEGER REFERENCES thread,"
                    " calls INTEGER)");
    fputs("CREATE TABLE timing (subject TEXT, id INTEGER, timing TEXT, calls INTEGER, timed_calls INTEGER,"
          " samples INTEGER",
          out);
    for (size_t i = 0; i < ESTIMATED_VALUES; i++)
        fprintf(out, ", %s_ticks INTEGER", estimated_values[i].name);
    fputs(", PRIMARY KEY (subject, id)) WITHOUT ROWID", out);
    need_stream_end(out);
    database_run(d, text);
    free(text);
}

/* ---- rows ---- */

static void timing_write_row(struct database *d, sqlite3_stmt *insert, const struct summary *summary,
                             const char *subject, int64_t id, const struct times *t)
{
    const unsigned knows = summary_knows(summary);
    const bool function = subject[0] == 'f';
    int64_t ticks[ESTIMATED_VALUES];
    for (size_t i = 0; i < ESTIMATED_VALUES; i++)
        ticks[i] = value_is_known(estimated_values[i].value, knows, t)
                       ? (int64_t)times_error(t, estimated_values[i].value, estimated_values[i].form)
                       : 0;
    database_insert(d, insert, value_is_known(VALUE_CALLS, knows, t) ? "titiiizzzzzz" : "titniizzzzzz", subject, id,
                    times_are_partial(t) && !function ? "timed" : times_timing(t), (int64_t)t->calls,
                    (int64_t)(t->calls - t->counted), (int64_t)t->samples, ticks[0], ticks[1], ticks[2], ticks[3],
                    ticks[4], ticks[5]);
}

/* The number of a group in the database. */
static int64_t timing_id(const struct order *order, enum rollup_by by, const uint32_t *processes,
                         const uint32_t *threads, size_t group)
{
    switch (by) {
    case BY_FUNCTION:
        return (int64_t)order->ranks[group] + 1;
    case BY_MODULE:
        return (int64_t)order->module_ranks[group] + 1;
    case BY_THREAD:
        return (int64_t)threads[group] + 1;
    default:
        return (int64_t)processes[group];
    }
}

static void timing_write_rows(struct database *d, const struct analysis *analysis, const struct order *order,
                              const uint32_t *threads)
{
    static const char *const subjects[] = {
        [BY_FUNCTION] = "function", [BY_MODULE] = "module", [BY_THREAD] = "thread", [BY_PROCESS] = "process"
    };
    size_t process_count;
    uint32_t *processes = rollup_process_list(analysis->profile, &process_count);
    sqlite3_stmt *insert = database_prepare(d, "INSERT INTO timing VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    for (int by = BY_FUNCTION; by <= BY_PROCESS; by++) {
        struct times *sums = rollup_groups(analysis->rollup, (enum rollup_by)by);
        const size_t count = rollup_group_count(analysis->rollup, (enum rollup_by)by);
        for (size_t i = 0; i < count; i++)
            timing_write_row(d, insert, &analysis->summary, subjects[by],
                             timing_id(order, (enum rollup_by)by, processes, threads, i), &sums[i]);
        free(sums);
    }
    sqlite3_finalize(insert);
    free(processes);
}

static void timing_write_counted(struct database *d, const struct profile *p, const struct order *order,
                                 const uint32_t *threads)
{
    sqlite3_stmt *insert = database_prepare(d, "INSERT INTO counted VALUES (?,?,?)");
    for (size_t i = 0; i < p->counted_count; i++)
        database_insert(d, insert, "iii", (int64_t)order->ranks[p->counted[i].function] + 1,
                        (int64_t)threads[p->counted[i].thread] + 1, (int64_t)p->counted[i].calls);
    sqlite3_finalize(insert);
}

void sqlite_write_timing(struct database *d, const struct analysis *session, const struct order *order)
{
    const struct profile *p = session->profile;
    if (!summary_has_timing(&session->summary))
        return;
    uint32_t *threads = need_memory(p->thread_count + 1, sizeof *threads); /* by thread of the profile: its place */
    for (size_t i = 0; i < p->thread_count; i++)
        threads[order->threads[i]] = (uint32_t)i;
    timing_write_counted(d, p, order, threads);
    timing_write_rows(d, session, order, threads);
    free(threads);
}

/* ---- columns ---- */

void sqlite_put_callers_timing(FILE *out, const struct summary *summary)
{
    if (summary->stack_samples)
        fputs(", t.samples", out);
    fputs(", iif(t.place = 2, g.timing, iif(t.sampled, 'sampled', 'timed')) AS timing", out);
    if (summary->counted)
        fputs(", iif(t.place = 2, g.timed_calls, ifnull(t.calls, 0)) AS timed_calls", out);
}

void sqlite_put_timing_columns(FILE *out, const struct summary *summary)
{
    if (summary->stack_samples)
        fputs(", g.samples", out);
    for (size_t i = 0; summary->stack_samples && i < ESTIMATED_VALUES; i++)
        fprintf(out,
                ", g.%s_ticks / s.ticks_per_second * 1000000000 + (g.%s_ticks %% s.ticks_per_second * 1000000000"
                " + s.ticks_per_second / 2) / s.ticks_per_second AS %s_ns",
                estimated_values[i].name, estimated_values[i].name, estimated_values[i].name);
    fputs(", g.timing", out);
    if (summary->counted)
        fputs(", g.timed_calls", out);
}
