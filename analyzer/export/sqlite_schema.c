#include "export/sqlite_schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* What a path has an inclusive and an exclusive value of; the session's column that says whether it is known. */
static const struct {
    const char *name, *unit, *known;
} measures[] = {
    { "elapsed", "_ticks", "1" },
    { "application", "_ticks", "s.application_known" },
    { "blocked", "_ticks", "s.away_known" },
    { "preempted", "_ticks", "s.away_known" },
    { "page_faults", "", "s.away_known" },
    { "overhead", "_ticks", "s.overhead_known" },
};
enum { MEASURE_OVERHEAD = 5, MEASURE_COUNT = sizeof measures / sizeof *measures };

static const char *const tables[] = {
    "PRAGMA user_version = 1",
    "CREATE TABLE session (file TEXT, creator TEXT, start_realtime_ns INTEGER, duration_ticks INTEGER,"
    " ticks_per_second INTEGER, elapsed_inclusive_ticks INTEGER, application_inclusive_ticks INTEGER,"
    " application_known INTEGER, away_known INTEGER, overhead_known INTEGER, os_events INTEGER, events INTEGER, "
    "lost_events INTEGER)",
    "CREATE TABLE remark (text TEXT)",
    "CREATE TABLE process (id INTEGER PRIMARY KEY, pid INTEGER, parent_pid INTEGER, name TEXT, path TEXT,"
    " arguments TEXT)",
    "CREATE TABLE thread (id INTEGER PRIMARY KEY, process INTEGER REFERENCES process, tid INTEGER, name TEXT)",
    "CREATE TABLE module (id INTEGER PRIMARY KEY, name TEXT, path TEXT, build_id TEXT)",
    "CREATE TABLE function (id INTEGER PRIMARY KEY, name TEXT, linkage_name TEXT, module INTEGER REFERENCES module,"
    " address INTEGER, file TEXT, line INTEGER)",
    "CREATE TABLE path (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES path, thread INTEGER REFERENCES thread,"
    " function INTEGER REFERENCES function, depth INTEGER, calls INTEGER, min_ticks INTEGER, max_ticks INTEGER,"
    " first_of_function INTEGER, first_of_module INTEGER, first_of_call INTEGER,"
    " elapsed_inclusive_ticks INTEGER, elapsed_exclusive_ticks INTEGER,"
    " application_inclusive_ticks INTEGER, application_exclusive_ticks INTEGER,"
    " blocked_inclusive_ticks INTEGER, blocked_exclusive_ticks INTEGER,"
    " preempted_inclusive_ticks INTEGER, preempted_exclusive_ticks INTEGER,"
    " page_faults_inclusive INTEGER, page_faults_exclusive INTEGER,"
    " overhead_inclusive_ticks INTEGER, overhead_exclusive_ticks INTEGER)",
    "CREATE TABLE mark (id INTEGER PRIMARY KEY, time_ticks INTEGER, since_previous_ticks INTEGER, number INTEGER,"
    " thread INTEGER REFERENCES thread, path INTEGER REFERENCES path, text TEXT)",
};

void sqlite_make_tables(struct database *d)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        database_run(d, tables[i]);
}

/* ---- pieces of views ---- */

/* The sums over paths p. An interval counts once for each thing on the stack: by the first of it. */
static char *schema_path_sums(const char *is_first)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fputs("sum(p.calls) AS calls, min(p.min_ticks) AS shortest, max(p.max_ticks) AS longest", out);
    for (int i = 0; i < MEASURE_COUNT; i++)
        fprintf(out, ", sum(iif(%s, p.%s_inclusive%s, 0)) AS %s_inclusive, sum(p.%s_exclusive%s) AS %s_exclusive",
                is_first, measures[i].name, measures[i].unit, measures[i].name, measures[i].name, measures[i].unit,
                measures[i].name);
    fclose(out);
    return text;
}

/* A column of nanoseconds: rounded as dwell does it, in steps that do not overflow. */
static void schema_put_ns(FILE *out, const char *ticks, const char *known, const char *name)
{
    fprintf(out,
            "iif(%s, (%s) / s.ticks_per_second * 1000000000 + ((%s) %% s.ticks_per_second * 1000000000"
            " + s.ticks_per_second / 2) / s.ticks_per_second, NULL) AS %s_ns",
            known, ticks, ticks, name);
}

static void schema_put_share(FILE *out, const char *part, const char *whole, const char *known, const char *name)
{
    fprintf(out, "iif(%s, iif(ifnull(%s, 0) = 0, 0.0, 100.0 * (%s) / %s), NULL) AS %s_percent", known, whole, part,
            whole, name);
}

/* Of the measure: nanoseconds inclusive and exclusive, with what share of the session's they are. */
static void schema_put_pair(FILE *out, int measure, bool shares)
{
    static const char *const kinds[] = { "inclusive", "exclusive" };
    for (int i = 0; i < 2; i++) {
        char *name = need_text("%s_%s", measures[measure].name, kinds[i]);
        char *ticks = need_text("ifnull(t.%s, 0)", name),
             *whole = need_text("s.%s_inclusive_ticks", measures[measure].name);
        fputs(", ", out);
        schema_put_ns(out, ticks, measures[measure].known, name);
        if (shares) {
            fputs(", ", out);
            schema_put_share(out, ticks, whole, measures[measure].known, name);
        }
        free(name);
        free(ticks);
        free(whole);
    }
}

/* The columns that all reports have, from sums t. */
static char *schema_time_columns(void)
{
    static const char *const kinds[] = { "inclusive", "exclusive" };
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fputs("ifnull(t.calls, 0) AS calls", out);
    schema_put_pair(out, 0, true);
    schema_put_pair(out, 1, true);
    fputs(", ", out);
    schema_put_ns(out, "t.shortest", "1", "min");
    fputs(", ", out);
    schema_put_ns(out, "t.longest", "1", "max");
    schema_put_pair(out, 2, false);
    schema_put_pair(out, 3, false);
    for (int i = 0; i < 2; i++) {
        char *name = need_text("cpu_%s", kinds[i]);
        char *on =
            need_text("max(ifnull(t.elapsed_%s - t.blocked_%s - t.preempted_%s, 0), 0)", kinds[i], kinds[i], kinds[i]);
        fputs(", ", out);
        schema_put_ns(out, on, "s.away_known", name);
        free(on);
        free(name);
    }
    fputs(", iif(s.away_known, ifnull(t.page_faults_inclusive, 0), NULL) AS page_faults,"
          " iif(s.away_known, ifnull(t.page_faults_exclusive, 0), NULL) AS page_faults_exclusive",
          out);
    schema_put_pair(out, MEASURE_OVERHEAD, false);
    fputs(", ", out);
    schema_put_share(out, "ifnull(t.blocked_exclusive, 0)", "t.elapsed_exclusive", "s.away_known", "waiting");
    fclose(out);
    return text;
}

/* ---- views ---- */

/* As the report sorts: by elapsed exclusive time, then by all columns. */
#define BEHIND_NAMES                                                                                                   \
    " calls DESC, t.elapsed_inclusive DESC, t.application_inclusive DESC, t.application_exclusive DESC,"               \
    " t.shortest DESC NULLS LAST, t.longest DESC NULLS LAST"

/* Each is made of sums t over the paths of a thing, by what says that a path is the first of it on its stack. */
static const struct {
    const char *name, *key, *from, *is_first, *columns, *joined;
} reports[] = {
    { "report_function", "p.function", "path p", "p.first_of_function",
      "f.name AS function, m.name AS module, f.file, f.line",
      "function f JOIN module m ON m.id = f.module LEFT JOIN t ON t.id = f.id, session s"
      " ORDER BY t.elapsed_exclusive DESC, f.name, m.name, f.file NULLS LAST, f.line DESC NULLS LAST," BEHIND_NAMES },
    { "report_module", "f.module", "path p JOIN function f ON f.id = p.function", "p.first_of_module",
      "m.name AS module, m.path",
      "module m LEFT JOIN t ON t.id = m.id, session s"
      " ORDER BY ifnull(t.elapsed_exclusive, 0) DESC, m.name, m.path," BEHIND_NAMES },
    { "report_thread", "p.thread", "path p", "p.parent IS NULL", "h.name AS thread, h.tid, r.name AS process, r.pid",
      "thread h JOIN process r ON r.id = h.process LEFT JOIN t ON t.id = h.id, session s"
      " ORDER BY ifnull(t.elapsed_exclusive, 0) DESC, h.name, h.tid DESC NULLS LAST, r.name, r.pid DESC NULLS "
      "LAST," BEHIND_NAMES },
    { "report_process", "h.process", "path p JOIN thread h ON h.id = p.thread", "p.parent IS NULL",
      "r.name AS process, r.pid, r.parent_pid AS parent, r.arguments",
      "process r LEFT JOIN t ON t.id = r.id, session s"
      " ORDER BY ifnull(t.elapsed_exclusive, 0) DESC, r.name, r.pid DESC NULLS LAST, r.parent_pid DESC NULLS LAST,"
      " r.arguments," BEHIND_NAMES },
};

static void schema_make_view(struct database *d, char *sql)
{
    database_run(d, sql);
    free(sql);
}

static void schema_make_reports(struct database *d, const char *columns)
{
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        char *values = schema_path_sums(reports[i].is_first);
        schema_make_view(
            d, need_text("CREATE VIEW %s AS WITH t AS (SELECT %s AS id, %s FROM %s GROUP BY 1) SELECT %s, %s FROM %s",
                         reports[i].name, reports[i].key, values, reports[i].from, reports[i].columns, columns,
                         reports[i].joined));
        free(values);
    }
}

/* A caller's sums are the function's own when it was called from there, a callee's its own when called by the function.
 */
static void schema_make_callers(struct database *d, const char *columns)
{
    char *by_function = schema_path_sums("p.first_of_function"), *by_call = schema_path_sums("p.first_of_call"), *share;
    size_t length;
    schema_make_view(
        d, need_text("CREATE VIEW neighbour AS"
                     " SELECT p.function AS subject, 1 AS place, 'caller' AS role, c.function AS other, %s"
                     " FROM path p LEFT JOIN path c ON c.id = p.parent GROUP BY p.function, c.function"
                     " UNION ALL SELECT p.function, 2, 'function', p.function, %s FROM path p GROUP BY p.function"
                     " UNION ALL SELECT c.function, 3, 'callee', p.function, %s"
                     " FROM path p JOIN path c ON c.id = p.parent GROUP BY c.function, p.function",
                     by_function, by_function, by_call));
    FILE *out = open_memstream(&share, &length);
    schema_put_share(out, "t.elapsed_inclusive", "w.elapsed_inclusive", "1", "share");
    fclose(out);
    schema_make_view(
        d, need_text("CREATE VIEW report_callers AS WITH w AS"
                     " (SELECT subject, elapsed_inclusive FROM neighbour WHERE place = 2)"
                     " SELECT t.subject, n.name AS subject_name, t.role,"
                     " ifnull(f.name, '(start of thread)') AS function, m.name AS module, %s, %s"
                     " FROM neighbour t JOIN w ON w.subject = t.subject JOIN function n ON n.id = t.subject"
                     " LEFT JOIN function f ON f.id = t.other LEFT JOIN module m ON m.id = f.module, session s"
                     " WHERE t.place = 2 OR t.calls OR t.elapsed_inclusive OR t.elapsed_exclusive"
                     " ORDER BY t.subject, t.place, t.elapsed_inclusive DESC, t.other NULLS LAST",
                     share, columns));
    free(by_function);
    free(by_call);
    free(share);
}

static void schema_make_marks(struct database *d)
{
    char *ns;
    size_t length;
    FILE *out = open_memstream(&ns, &length);
    schema_put_ns(out, "k.time_ticks", "1", "time");
    fputs(", ", out);
    schema_put_ns(out, "k.since_previous_ticks", "1", "since_previous");
    fclose(out);
    schema_make_view(
        d, need_text("CREATE VIEW report_marks AS SELECT %s, k.number, h.tid, r.pid AS process, h.name AS thread,"
                     " f.name AS function, k.text FROM mark k LEFT JOIN thread h ON h.id = k.thread"
                     " LEFT JOIN process r ON r.id = h.process LEFT JOIN path p ON p.id = k.path"
                     " LEFT JOIN function f ON f.id = p.function, session s ORDER BY k.id",
                     ns));
    free(ns);
}

static void schema_make_paths(struct database *d)
{
    static const char *const kinds[] = { "inclusive", "exclusive" };
    char *ns;
    size_t length;
    FILE *out = open_memstream(&ns, &length);
    schema_put_ns(out, "p.min_ticks", "1", "min");
    fputs(", ", out);
    schema_put_ns(out, "p.max_ticks", "1", "max");
    for (int i = 0; i < MEASURE_COUNT; i++) {
        for (int j = 0; j < 2; j++) {
            char *name = need_text("%s_%s", measures[i].name, kinds[j]),
                 *value = need_text("p.%s%s", name, measures[i].unit);
            fputs(", ", out);
            if (measures[i].unit[0])
                schema_put_ns(out, value, measures[i].known, name);
            else
                fprintf(out, "iif(%s, %s, NULL) AS %s", measures[i].known, value, name);
            free(name);
            free(value);
        }
    }
    fclose(out);
    schema_make_view(
        d, need_text("CREATE VIEW paths AS SELECT p.id, p.parent, p.depth, r.name AS process, r.pid, h.name AS thread,"
                     " h.tid, f.name AS function, m.name AS module, p.calls, %s FROM path p"
                     " JOIN function f ON f.id = p.function JOIN module m ON m.id = f.module"
                     " JOIN thread h ON h.id = p.thread JOIN process r ON r.id = h.process, session s ORDER BY p.id",
                     ns));
    free(ns);
}

void sqlite_make_views(struct database *d)
{
    char *columns = schema_time_columns();
    database_run(d, "CREATE INDEX path_of_function ON path (function)");
    database_run(d, "CREATE INDEX path_of_parent ON path (parent)");
    schema_make_reports(d, columns);
    schema_make_callers(d, columns);
    schema_make_marks(d);
    schema_make_paths(d);
    free(columns);
}
