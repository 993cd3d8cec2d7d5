/* The SQL that creates the tables of the SQLite export, and builds views whose columns equal those of dwell's
 * reports. */
#include "export/sqlite_schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "export/sqlite_timing.h"

static const char *const tables[] = {
    "PRAGMA user_version = 4",
    "CREATE TABLE session (file TEXT, creator TEXT, start_realtime_ns INTEGER, duration_ticks INTEGER,"
    " ticks_per_second INTEGER, elapsed_inclusive_ticks INTEGER, application_inclusive_ticks INTEGER,"
    " application_known INTEGER, off_cpu_known INTEGER, overhead_known INTEGER, os_events INTEGER, events INTEGER, "
    "lost_events INTEGER, samples INTEGER, samples_in_probes INTEGER)",
    "CREATE TABLE remark (text TEXT)",
    "CREATE TABLE process (id INTEGER PRIMARY KEY, pid INTEGER, parent_pid INTEGER, name TEXT, path TEXT,"
    " arguments TEXT)",
    "CREATE TABLE thread (id INTEGER PRIMARY KEY, process INTEGER REFERENCES process, tid INTEGER, name TEXT, "
    "title TEXT)",
    "CREATE TABLE module (id INTEGER PRIMARY KEY, name TEXT, path TEXT, build_id TEXT)",
    "CREATE TABLE function (id INTEGER PRIMARY KEY, name TEXT, linkage_name TEXT, module INTEGER REFERENCES module,"
    " address INTEGER, file TEXT, line INTEGER)",
    "CREATE TABLE mark (id INTEGER PRIMARY KEY, time_ticks INTEGER, since_previous_ticks INTEGER, number INTEGER,"
    " thread INTEGER REFERENCES thread, path INTEGER REFERENCES path, text TEXT)",
    "CREATE TABLE activity (id INTEGER PRIMARY KEY, is_marker INTEGER, name TEXT, number INTEGER,"
    " thread INTEGER REFERENCES thread, end_thread INTEGER REFERENCES thread, time_ticks INTEGER,"
    " duration_ticks INTEGER, wait_ticks INTEGER, function TEXT)",
};

/* True if table path has the inclusive and exclusive values. */
static bool schema_is_stored(const struct value *v)
{
    return v->forms == 2 && v->part_count == 0;
}

static const char *schema_unit(const struct value *v)
{
    return v->kind == VALUE_IS_TIME ? "_ticks" : "";
}

/* The condition that session s knows the value. */
static const char *schema_known(const struct value *v)
{
    switch (v->needs & (NEEDS_APPLICATION | NEEDS_OFF_CPU | NEEDS_OVERHEAD)) {
    case NEEDS_APPLICATION:
        return "s.application_known";
    case NEEDS_OFF_CPU:
        return "s.off_cpu_known";
    case NEEDS_OVERHEAD:
        return "s.overhead_known";
    case NEEDS_APPLICATION | NEEDS_OFF_CPU:
        return "s.application_known AND s.off_cpu_known";
    default:
        return "1";
    }
}

static void schema_make_path_table(struct database *d)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fputs("CREATE TABLE path (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES path, thread INTEGER REFERENCES thread,"
          " function INTEGER REFERENCES function, depth INTEGER, calls INTEGER, min_ticks INTEGER, max_ticks INTEGER,"
          " first_of_function INTEGER, first_of_module INTEGER, first_of_call INTEGER,"
          " is_sampled INTEGER, samples INTEGER, elapsed_inclusive_ci95_ticks INTEGER,"
          " elapsed_exclusive_ci95_ticks INTEGER",
          out);
    for (enum value_id i = 0; i < VALUE_COUNT; i++)
        for (int form = 0; schema_is_stored(&value_table[i]) && form < VALUE_FORMS; form++)
            fprintf(out, ", %s%s INTEGER", value_table[i].names[form], schema_unit(&value_table[i]));
    fputs(")", out);
    need_stream_end(out);
    database_run(d, text);
    free(text);
}

void sqlite_make_tables(struct database *d)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        database_run(d, tables[i]);
    schema_make_path_table(d);
    sqlite_make_timing_tables(d);
}

size_t sqlite_list_path_values(int64_t *list, const struct times *t)
{
    size_t count = 0;
    for (enum value_id i = 0; i < VALUE_COUNT; i++)
        for (int form = 0; schema_is_stored(&value_table[i]) && form < VALUE_FORMS; form++)
            list[count++] = (int64_t)times_value(t, i, (enum value_form)form);
    return count;
}

/* ---- pieces of views ---- */

/* The sums over paths p. Recursive calls count once in inclusive times: `is_first` selects the outermost path. */
static char *schema_path_sums(const char *is_first)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out,
            "sum(p.calls) AS calls, min(p.min_ticks) AS shortest, max(p.max_ticks) AS longest,"
            " sum(p.samples) AS samples, max(iif(%s, p.is_sampled, 0)) AS sampled",
            is_first);
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        if (schema_is_stored(v))
            fprintf(out, ", sum(iif(%s, p.%s%s, 0)) AS %s, sum(p.%s%s) AS %s", is_first, v->names[INCLUSIVE],
                    schema_unit(v), v->names[INCLUSIVE], v->names[EXCLUSIVE], schema_unit(v), v->names[EXCLUSIVE]);
    }
    need_stream_end(out);
    return text;
}

/* A column of nanoseconds, rounded as in dwell's reports, in steps that do not overflow. */
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

/* The value in the sums t, in ticks or as a number; 0 for rows without calls. */
static char *schema_value(const struct value *v, int form)
{
    if (!v->part_count)
        return need_text("ifnull(t.%s, 0)", v->names[form]);
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out, "max(ifnull(t.%s", value_table[v->whole].names[form]);
    for (unsigned i = 0; i < v->part_count; i++)
        fprintf(out, " - t.%s", value_table[v->parts[i]].names[form]);
    fputs(", 0), 0)", out);
    need_stream_end(out);
    return text;
}

/* Which rows a list of columns is for. */
enum schema_rows {
    ROWS_OF_TIMED_CALLS,
    ROWS_WITH_TIMING,  /* of sums: table timing, `g`, says what is known */
    ROWS_OF_NEIGHBOURS /* the same for the function itself, which is in place 2 */
};

/* The condition that the value of a row is known. The caller frees it. */
static char *schema_row_known(const struct value *v, enum schema_rows rows)
{
    return need_text("%s%s", schema_known(v), rows == ROWS_WITH_TIMING ? " AND g.timing <> 'counted'" : "");
}

static const char *schema_calls(enum schema_rows rows)
{
    return rows == ROWS_OF_TIMED_CALLS ? "ifnull(t.calls, 0)"
           : rows == ROWS_WITH_TIMING  ? "g.calls"
                                       : "iif(t.place = 2, g.calls, iif(t.sampled, t.calls, ifnull(t.calls, 0)))";
}

static void schema_put_form(FILE *out, const struct value *v, int form, const char *known)
{
    char *number = schema_value(v, form);
    fputs(", ", out);
    if (v->kind == VALUE_IS_TIME)
        schema_put_ns(out, number, known, v->names[form]);
    else
        fprintf(out, "iif(%s, %s, NULL) AS %s", known, number, v->columns[form] ? v->columns[form] : v->names[form]);
    if (v->shares[form] && !(v->shown & SHARE_ONLY_CHOSEN)) {
        char *whole = need_text("s.%s_ticks", v->names[INCLUSIVE]);
        fputs(", ", out);
        schema_put_share(out, number, whole, known, v->names[form]);
        free(whole);
    }
    free(number);
}

static void schema_put_percentage(FILE *out, const struct value *v, const char *known)
{
    char *part = need_text("ifnull(t.%s, 0)", value_table[v->parts[0]].names[EXCLUSIVE]);
    char *whole = need_text("t.%s", value_table[v->whole].names[EXCLUSIVE]);
    fputs(", ", out);
    schema_put_share(out, part, whole, known, v->key);
    free(whole);
    free(part);
}

/* The columns that all reports have in their data, computed from the sums t. */
static char *schema_time_columns(const struct summary *summary, enum schema_rows rows)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out, "%s AS calls", schema_calls(rows));
    for (enum value_id i = VALUE_CALLS + 1; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        if (!(v->shown & SHOWN_IN_DATA))
            continue;
        char *known = schema_row_known(v, rows);
        if (i == VALUE_MIN || i == VALUE_MAX) {
            fputs(", ", out);
            schema_put_ns(out, i == VALUE_MIN ? "t.shortest" : "t.longest", "1", v->key);
        } else if (v->kind == VALUE_IS_PERCENT) {
            schema_put_percentage(out, v, known);
        } else {
            for (int form = 0; form < VALUE_FORMS; form++)
                schema_put_form(out, v, form, known);
        }
        free(known);
    }
    if (rows == ROWS_WITH_TIMING)
        sqlite_put_timing_columns(out, summary);
    else if (rows == ROWS_OF_NEIGHBOURS)
        sqlite_put_callers_timing(out, summary);
    need_stream_end(out);
    return text;
}

/* ---- views ---- */

/* The order of the reports: by elapsed exclusive time, then by all columns. */
#define BEHIND_NAMES                                                                                                   \
    " calls DESC, t.elapsed_inclusive DESC, t.application_inclusive DESC, t.application_exclusive DESC,"               \
    " t.shortest DESC NULLS LAST, t.longest DESC NULLS LAST"

/* The views of sums by function, module, thread and process. `is_first` selects outermost paths. */
static const struct {
    const char *name, *subject, *id, *key, *from, *is_first, *columns, *joined, *order;
} reports[] = {
    { "report_function", "function", "f.id", "p.function", "path p", "p.first_of_function",
      "f.name AS function, m.name AS module, f.file, f.line",
      "function f JOIN module m ON m.id = f.module LEFT JOIN t ON t.id = f.id",
      " t.elapsed_exclusive DESC, f.name, m.name, f.file NULLS LAST, f.line DESC NULLS LAST," BEHIND_NAMES },
    { "report_module", "module", "m.id", "f.module", "path p JOIN function f ON f.id = p.function", "p.first_of_module",
      "m.name AS module, m.path", "module m LEFT JOIN t ON t.id = m.id",
      " ifnull(t.elapsed_exclusive, 0) DESC, m.name, m.path," BEHIND_NAMES },
    { "report_thread", "thread", "h.id", "p.thread", "path p", "p.parent IS NULL",
      "h.name AS thread, h.tid, r.name AS process, r.pid, h.title AS thread_title",
      "thread h JOIN process r ON r.id = h.process LEFT JOIN t ON t.id = h.id",
      " ifnull(t.elapsed_exclusive, 0) DESC, h.name, h.tid DESC NULLS LAST, r.name, r.pid DESC NULLS "
      "LAST," BEHIND_NAMES },
    { "report_process", "process", "r.id", "h.process", "path p JOIN thread h ON h.id = p.thread", "p.parent IS NULL",
      "r.name AS process, r.pid, r.parent_pid AS parent, r.arguments", "process r LEFT JOIN t ON t.id = r.id",
      " ifnull(t.elapsed_exclusive, 0) DESC, r.name, r.pid DESC NULLS LAST, r.parent_pid DESC NULLS LAST,"
      " r.arguments," BEHIND_NAMES },
};

static void schema_make_view(struct database *d, char *sql)
{
    database_run(d, sql);
    free(sql);
}

/* Rows without times follow the others, those with the most calls first. */
static void schema_make_reports(struct database *d, const struct summary *summary)
{
    const bool timing = summary_has_timing(summary);
    char *columns = schema_time_columns(summary, timing ? ROWS_WITH_TIMING : ROWS_OF_TIMED_CALLS);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        char *values = schema_path_sums(reports[i].is_first);
        char *join = timing ? need_text(" LEFT JOIN timing g ON g.subject = '%s' AND g.id = %s", reports[i].subject,
                                        reports[i].id)
                            : need_copy("", 0);
        schema_make_view(d,
                         need_text("CREATE VIEW %s AS WITH t AS (SELECT %s AS id, %s FROM %s GROUP BY 1)"
                                   " SELECT %s, %s FROM %s%s, session s ORDER BY%s%s",
                                   reports[i].name, reports[i].key, values, reports[i].from, reports[i].columns,
                                   columns, reports[i].joined, join,
                                   timing ? " g.timing = 'counted', iif(g.timing = 'counted', g.calls, 0) DESC," : "",
                                   reports[i].order));
        free(join);
        free(values);
    }
    free(columns);
}

/* The views of callers and callees. A caller's sums are those of the function when that caller called it; a callee's
 * sums are its own when the function called it. */
static void schema_make_callers(struct database *d, const struct summary *summary)
{
    const bool timing = summary_has_timing(summary);
    char *columns = schema_time_columns(summary, timing ? ROWS_OF_NEIGHBOURS : ROWS_OF_TIMED_CALLS);
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
    FILE *out = need_stream(&share, &length);
    schema_put_share(out, "t.elapsed_inclusive", "w.elapsed_inclusive", "1", "share");
    need_stream_end(out);
    schema_make_view(
        d,
        need_text("CREATE VIEW report_callers AS WITH w AS"
                  " (SELECT subject, elapsed_inclusive FROM neighbour WHERE place = 2)"
                  " SELECT t.subject, n.name AS subject_name, t.role,"
                  " ifnull(f.name, '(start of thread)') AS function, m.name AS module, %s, %s"
                  " FROM neighbour t JOIN w ON w.subject = t.subject JOIN function n ON n.id = t.subject"
                  " LEFT JOIN function f ON f.id = t.other LEFT JOIN module m ON m.id = f.module%s, session s"
                  " WHERE t.place = 2 OR t.calls OR t.elapsed_inclusive OR t.elapsed_exclusive"
                  " ORDER BY t.subject, t.place, t.elapsed_inclusive DESC, t.other NULLS LAST",
                  share, columns, timing ? " LEFT JOIN timing g ON g.subject = 'function' AND g.id = t.subject" : ""));
    free(columns);
    free(by_function);
    free(by_call);
    free(share);
}

/* Marks, and the timers of PerfLog. */
static void schema_make_marks(struct database *d)
{
    char *since, *duration;
    size_t length;
    FILE *out = need_stream(&since, &length);
    schema_put_ns(out, "k.time_ticks", "1", "time");
    fputs(", ", out);
    schema_put_ns(out, "k.since_ticks", "1", "since_previous");
    need_stream_end(out);
    out = need_stream(&duration, &length);
    schema_put_ns(out, "k.duration_ticks", "1", "duration");
    need_stream_end(out);
    schema_make_view(
        d, need_text("CREATE VIEW report_marks AS WITH m AS"
                     " (SELECT time_ticks, 0 AS kind, id, number, thread, path, NULL AS function, text,"
                     " NULL AS duration_ticks FROM mark UNION ALL"
                     " SELECT time_ticks, 1, id, number, thread, NULL, function, name, duration_ticks"
                     " FROM activity WHERE is_marker), k AS (SELECT *,"
                     " time_ticks - lag(time_ticks, 1, 0) OVER (ORDER BY time_ticks, kind, id) AS since_ticks FROM m)"
                     " SELECT %s, k.number, h.tid, r.pid AS process, h.name AS thread,"
                     " ifnull(f.name, k.function) AS function, k.text, %s, h.title AS thread_title FROM k"
                     " LEFT JOIN thread h ON h.id = k.thread"
                     " LEFT JOIN process r ON r.id = h.process LEFT JOIN path p ON p.id = k.path"
                     " LEFT JOIN function f ON f.id = p.function, session s ORDER BY k.time_ticks, k.kind, k.id",
                     since, duration));
    free(since);
    free(duration);
}

static void schema_make_activities(struct database *d)
{
    char *ns;
    size_t length;
    FILE *out = need_stream(&ns, &length);
    schema_put_ns(out, "a.time_ticks", "1", "time");
    fputs(", ", out);
    schema_put_ns(out, "a.duration_ticks", "1", "duration");
    fputs(", ", out);
    schema_put_ns(out, "a.wait_ticks", "1", "wait");
    need_stream_end(out);
    schema_make_view(
        d, need_text("CREATE VIEW activities AS SELECT a.id, iif(a.is_marker, 'marker', 'activity') AS kind, a.name,"
                     " a.number, %s, r.name AS process, r.pid, h.name AS thread, h.tid, a.function FROM activity a"
                     " LEFT JOIN thread h ON h.id = a.thread LEFT JOIN process r ON r.id = h.process, session s"
                     " ORDER BY a.id",
                     ns));
    free(ns);
}

static void schema_put_path_value(FILE *out, const struct value *v, const char *name)
{
    char *value = need_text("p.%s%s", name, schema_unit(v));
    fputs(", ", out);
    if (v->kind == VALUE_IS_TIME)
        schema_put_ns(out, value, schema_known(v), name);
    else
        fprintf(out, "iif(%s, %s, NULL) AS %s", schema_known(v), value, name);
    free(value);
}

static void schema_make_paths(struct database *d)
{
    char *ns;
    size_t length;
    FILE *out = need_stream(&ns, &length);
    schema_put_ns(out, "p.min_ticks", "1", "min");
    fputs(", ", out);
    schema_put_ns(out, "p.max_ticks", "1", "max");
    for (enum value_id i = 0; i < VALUE_COUNT; i++)
        for (int form = 0; schema_is_stored(&value_table[i]) && form < VALUE_FORMS; form++)
            schema_put_path_value(out, &value_table[i], value_table[i].names[form]);
    need_stream_end(out);
    schema_make_view(
        d, need_text("CREATE VIEW paths AS SELECT p.id, p.parent, p.depth, r.name AS process, r.pid, h.name AS thread,"
                     " h.tid, f.name AS function, m.name AS module, p.calls, p.is_sampled, p.samples, %s FROM path p"
                     " JOIN function f ON f.id = p.function JOIN module m ON m.id = f.module"
                     " JOIN thread h ON h.id = p.thread JOIN process r ON r.id = h.process, session s ORDER BY p.id",
                     ns));
    free(ns);
}

void sqlite_make_views(struct database *d, const struct summary *summary)
{
    database_run(d, "CREATE INDEX path_of_function ON path (function)");
    database_run(d, "CREATE INDEX path_of_parent ON path (parent)");
    schema_make_reports(d, summary);
    schema_make_callers(d, summary);
    schema_make_marks(d);
    schema_make_activities(d);
    schema_make_paths(d);
}
