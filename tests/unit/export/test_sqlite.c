/* The SQLite export: its views give the values of the call tree, with any recursion, and names are unchanged. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/order.h"
#include "base/units.h"
#include "commands/features.h"
#include "support/example.h"
#include "support/exported.h"
#include "support/model.h"
#include "support/scenario.h"
#include "support/success.h"

TestSuite(unit_sqlite);

static sqlite3 *database_of(const struct analysis *analysis)
{
    const struct export_options options = { 0 };
    sqlite3 *db;
    EXPECT_SUCCESS(find_export("sqlite")->write_files(analysis, &options, test_path("exported.db"), &error));
    cr_assert(eq(int, sqlite3_open_v2(test_path("exported.db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK));
    return db;
}

static sqlite3_stmt *database_ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    cr_assert(eq(int, sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK), "%s: %s", sql, sqlite3_errmsg(db));
    return statement;
}

static uint64_t database_number(sqlite3_stmt *row, const char *column)
{
    for (int i = 0; i < sqlite3_column_count(row); i++)
        if (strcmp(sqlite3_column_name(row, i), column) == 0)
            return (uint64_t)sqlite3_column_int64(row, i);
    cr_fatal("no column %s", column);
}

/* Compares the table of neighbours, in ticks, with a report in nanoseconds. Both are equal here. */
static void expect_times(sqlite3_stmt *row, const struct times *t, const char *unit)
{
    const struct {
        const char *name;
        uint64_t inclusive, exclusive;
    } pairs[] = {
        { "elapsed", t->elapsed_inclusive, t->elapsed_exclusive },
        { "application", t->application_inclusive, t->application_exclusive },
        { "blocked", t->blocked_inclusive, t->blocked_exclusive },
        { "preempted", t->preempted_inclusive, t->preempted_exclusive },
    };
    char column[64];
    cr_assert(eq(u64, database_number(row, "calls"), t->calls));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(column, sizeof column, "%s_inclusive%s", pairs[i].name, unit);
        cr_assert(eq(u64, database_number(row, column), pairs[i].inclusive), "%s", column);
        snprintf(column, sizeof column, "%s_exclusive%s", pairs[i].name, unit);
        cr_assert(eq(u64, database_number(row, column), pairs[i].exclusive), "%s", column);
    }
    cr_assert(eq(u64, database_number(row, "page_faults_exclusive"), t->page_faults_exclusive));
    cr_assert(
        eq(u64, database_number(row, unit[0] ? "min_ns" : "shortest"), t->shortest <= t->longest ? t->shortest : 0));
    cr_assert(eq(u64, database_number(row, unit[0] ? "max_ns" : "longest"), t->longest));
}

static void expect_row(sqlite3 *db, const char *sql, int64_t key, int64_t second, const struct times *t,
                       const char *unit)
{
    sqlite3_stmt *statement = database_ask(db, sql);
    sqlite3_bind_int64(statement, 1, key);
    sqlite3_bind_int64(statement, 2, second);
    cr_assert(eq(int, sqlite3_step(statement), SQLITE_ROW), "%s", sql);
    expect_times(statement, t, unit);
    cr_assert(eq(int, sqlite3_step(statement), SQLITE_DONE), "%s", sql);
    sqlite3_finalize(statement);
}

static void expect_neighbours(sqlite3 *db, const struct analysis *analysis, const struct order *order,
                              uint32_t function)
{
    struct neighbours n = rollup_neighbours(analysis->rollup, function);
    const int64_t subject = order->ranks[function] + 1;
    for (size_t i = 0; i < n.caller_count; i++) {
        const uint32_t caller = n.callers[i].function;
        expect_row(db, "SELECT * FROM neighbour WHERE place = 1 AND subject = ? AND ifnull(other, 0) = ?", subject,
                   caller == PROFILE_NONE ? 0 : order->ranks[caller] + 1, &n.callers[i].times, "");
    }
    for (size_t i = 0; i < n.callee_count; i++)
        expect_row(db, "SELECT * FROM neighbour WHERE place = 3 AND subject = ? AND other = ?", subject,
                   order->ranks[n.callees[i].function] + 1, &n.callees[i].times, "");
    neighbours_free(&n);
}

Test(unit_sqlite, views_are_the_call_trees_sums_with_any_recursion, .timeout = 300)
{
    for (uint64_t seed = 21; seed <= 24; seed++) {
        struct model *m = model_new(seed);
        struct analysis analysis = loaded_of(model_write(m, 7, 1));
        sqlite3 *db = database_of(&analysis);
        struct order *order = order_new(&analysis);
        struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION),
                     *modules = rollup_groups(analysis.rollup, BY_MODULE);
        for (uint32_t i = 0; i < analysis.profile->function_count; i++) {
            expect_row(db, "SELECT * FROM neighbour WHERE place = 2 AND subject = ? AND ? = 0", order->ranks[i] + 1, 0,
                       &functions[i], "");
            expect_neighbours(db, &analysis, order, i);
        }
        for (uint32_t i = 0; i < analysis.profile->module_count; i++)
            expect_row(db, "SELECT r.* FROM module m JOIN report_module r ON r.path = m.path WHERE m.id = ? AND ? = 0",
                       order->module_ranks[i] + 1, 0, &modules[i], "_ns");
        sqlite3_close(db);
        free(functions);
        free(modules);
        order_free(order);
        analysis_drop(&analysis);
        model_free(m);
    }
}

Test(unit_sqlite, names_of_all_kinds)
{
    struct analysis analysis = loaded_of(bad_session());
    sqlite3 *db = database_of(&analysis);
    sqlite3_stmt *statement = database_ask(db, "SELECT calls, file, line FROM report_function WHERE function = ?");
    for (int i = 0; i < BAD_NAMES; i++) {
        const char *name = i == BAD_BYTES ? "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd" : bad_names[i];
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        cr_assert(eq(int, sqlite3_step(statement), SQLITE_ROW), "%s", name);
        cr_assert(eq(int, sqlite3_column_int(statement, 0), 1 + i));
        cr_assert(eq(str, (char *)sqlite3_column_text(statement, 1), "/src/a \"b\".c"));
        cr_assert(eq(int, sqlite3_column_int(statement, 2), 10 + i));
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    statement = database_ask(db, "SELECT thread, process FROM report_thread");
    cr_assert(eq(int, sqlite3_step(statement), SQLITE_ROW));
    cr_assert(eq(str, (char *)sqlite3_column_text(statement, 0), "th\nread"));
    cr_assert(eq(str, (char *)sqlite3_column_text(statement, 1), "a;b"));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    analysis_drop(&analysis);
}

static int column_type(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = database_ask(db, sql);
    cr_assert(eq(int, sqlite3_step(statement), SQLITE_ROW));
    const int type = sqlite3_column_type(statement, 0);
    sqlite3_finalize(statement);
    return type;
}

Test(unit_sqlite, unknown_values_are_null)
{
    struct analysis analysis = loaded_of(example_session(SOURCE_NONE));
    sqlite3 *db = database_of(&analysis);
    cr_assert(eq(int, column_type(db, "SELECT application_inclusive_ns FROM report_function"), SQLITE_NULL));
    cr_assert(eq(int, column_type(db, "SELECT application_exclusive_percent FROM report_callers"), SQLITE_NULL));
    cr_assert(eq(int, column_type(db, "SELECT application_inclusive_ns FROM paths"), SQLITE_NULL));
    cr_assert(eq(int, column_type(db, "SELECT blocked_exclusive_ns FROM paths"), SQLITE_NULL));
    cr_assert(eq(int, column_type(db, "SELECT page_faults FROM report_thread"), SQLITE_NULL));
    cr_assert(eq(int, column_type(db, "SELECT waiting_percent FROM report_function"), SQLITE_NULL));
    cr_assert(eq(int, column_type(db, "SELECT min_ns FROM report_process WHERE process = 'worker'"), SQLITE_INTEGER));
    cr_assert(eq(int, column_type(db, "SELECT min_ns FROM report_module WHERE module = 'worker'"), SQLITE_NULL));
    sqlite3_close(db);
    analysis_drop(&analysis);
}

/* Tables for values of ticks_per_second that are not powers of ten, and values near the limit of 64 bits. */
Test(unit_sqlite, ticks_become_nanoseconds_as_in_reports)
{
    static const uint64_t rates[] = { 1000, 2600000123, 24000000, 999999937 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct writer *w = example_session(SOURCE_PERF);
        write_header(w, 64, rates[i], 8);
        struct analysis analysis = loaded_of(w);
        cr_assert(eq(u64, analysis.summary.ticks_per_second, rates[i]));
        sqlite3 *db = database_of(&analysis);
        sqlite3_stmt *statement = database_ask(db, "SELECT sum(elapsed_inclusive_ns) AS sum FROM report_function");
        struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION);
        uint64_t wanted = 0;
        for (size_t j = 0; j < analysis.profile->function_count; j++)
            wanted += ticks_to_ns(functions[j].elapsed_inclusive, rates[i]);
        cr_assert(eq(int, sqlite3_step(statement), SQLITE_ROW));
        cr_assert(eq(u64, database_number(statement, "sum"), wanted));
        sqlite3_finalize(statement);
        sqlite3_close(db);
        free(functions);
        analysis_drop(&analysis);
    }
}

Test(unit_sqlite, an_older_file_is_replaced_and_can_be_read_by_others)
{
    struct analysis analysis = loaded_of(example_small());
    FILE *old = fopen(test_path("exported.db"), "w");
    fputs("something else", old);
    fclose(old);
    umask(022);
    sqlite3_close(database_of(&analysis));
    struct stat status;
    cr_assert(eq(int, stat(test_path("exported.db"), &status), 0));
    cr_assert(eq(u32, status.st_mode & 0777, 0644));
    analysis_drop(&analysis);
}

enum { CALLER = 0x1000, PARTLY = 0x2000, COUNTED = 0x3000, CODE = 0x5000 };

static void sample_at(struct writer *w, uint64_t time, uint64_t address)
{
    write_sample(w, &(struct written_sample){ .time = time, .registers = &address, .register_count = 1 });
}

/* CALLER takes 1,000 ticks. Four samples of five on its 800 own ticks are in CODE, which has no probes. */
static struct writer *session_with_timing(void)
{
    static const uint64_t calls[][2] = { { PARTLY, 40 }, { COUNTED, 5000 } };
    struct writer *w = writer_new();
    write_process(w, 1, 70, "/bin/p");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "one");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "");
    write_symbol_module(w, 1, "");
    write_symbol(w, 1, 0, 0, CALLER, "caller");
    write_symbol(w, 1, 0, 0, PARTLY, "partly");
    write_symbol(w, 1, 0, 0, COUNTED, "counted");
    write_symbol(w, 1, 0, 0, CODE, "code");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, CALLER);
    write_enter(w, 100, PARTLY);
    write_exit(w, 300);
    write_exit(w, 1000);
    end_events(w, true);
    write_counts(w, 1, 1, 50, calls, 2);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint64_t i = 0; i < 5; i++)
        sample_at(w, 400 + 100 * i, i ? CODE : CALLER);
    sample_at(w, 200, PARTLY);
    end_samples(w, true);
    return w;
}

static void expect_text(sqlite3 *db, const char *sql, const char *wanted)
{
    sqlite3_stmt *statement = database_ask(db, sql);
    cr_assert(eq(int, sqlite3_step(statement), SQLITE_ROW), "%s", sql);
    cr_assert(eq(str, (char *)sqlite3_column_text(statement, 0), (char *)wanted), "%s", sql);
    cr_assert(eq(int, sqlite3_step(statement), SQLITE_DONE), "%s", sql);
    sqlite3_finalize(statement);
}

#define TIMING_OF(name)                                                                                                \
    "SELECT concat_text FROM (SELECT timing || ' ' || ifnull(calls, '-') || ' ' || timed_calls || ' ' || samples ||"   \
    " ' ' || ifnull(elapsed_inclusive_ns, '-') || ' ' || ifnull(elapsed_inclusive_ci95_ns > 0, '-') AS concat_text"    \
    " FROM report_function WHERE function = '" name "')"

Test(unit_sqlite, how_times_are_known)
{
    struct analysis analysis = loaded_of(session_with_timing());
    sqlite3 *db = database_of(&analysis);
    expect_text(db, TIMING_OF("caller"), "timed 1 1 1 1000 -");
    expect_text(db, TIMING_OF("partly"), "partly 41 1 1 200 -");
    expect_text(db, TIMING_OF("counted"), "counted 5000 0 0 - -");
    expect_text(db, TIMING_OF("code"), "sampled - 0 4 640 1");
    expect_text(db, "SELECT group_concat(function, ' ') FROM report_function", "code partly caller counted");
    expect_text(db, "SELECT calls || ' ' || timing || ' ' || timed_calls FROM report_thread", "5042 timed 2");
    expect_text(db, "SELECT sum(calls) || '' FROM counted", "5040");
    expect_text(db, "SELECT samples || ' ' || (calls IS NULL) FROM paths WHERE is_sampled", "4 1");
    expect_text(db, "SELECT timing FROM report_callers WHERE subject_name = 'caller' AND function = 'code'", "sampled");
    sqlite3_close(db);
    analysis_drop(&analysis);
}
