/* Activities in the exports that have a place for intervals: each has its name, begin and duration. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "commands/features.h"
#include "dwell/format.h"
#include "support/exported.h"
#include "support/scenario.h"
#include "support/success.h"

TestSuite(unit_export_activities, .timeout = 300);

static const char CLASS[16] = "class of seed 3";
static const char perflog_guid[16] = DWELL_PERFLOG_GUID;

static void write_event(struct writer *w, const char guid[16], uint64_t time, unsigned type, const char *data,
                        uint32_t size)
{
    write_trace_event(w, guid,
                      &(struct written_event){ .time = time, .type = type, .level = 4, .data = data, .size = size });
}

/* An activity from 1100 to 1300 that waited 50 before, one from 1200 to 1400, and a timer of PerfLog. */
static struct writer *activities_session(void)
{
    static const char marker[] = "\x05\0\0\0Test=WriteFile";
    struct writer *w = writer_new();
    write_header(w, 40, 1000, 8); /* start_ticks */
    write_process(w, 1, 4711, "/bin/prog");
    write_thread(w, 1, 1, 4712, SOURCE_PERF, "one");
    write_event_class(w, 1, CLASS, "seed");
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1000, 0x1000);
    write_exit(w, 2000);
    end_events(w, true);
    begin_trace_events(w, 1, 1, 0);
    write_event(w, CLASS, 1050, 1, "", 0);
    write_event(w, CLASS, 1100, 7, "", 0);
    write_event(w, CLASS, 1200, 1, "", 0);
    write_event(w, perflog_guid, 1250, 1, marker, sizeof marker - 1);
    write_event(w, CLASS, 1300, 2, "", 0);
    write_event(w, perflog_guid, 1350, 2, marker, sizeof marker - 1);
    write_event(w, CLASS, 1400, 2, "", 0);
    end_trace_events(w, true);
    return w;
}

static void expect_row(sqlite3 *db, const char *sql, const char *wanted)
{
    sqlite3_stmt *row;
    char text[256] = "";
    cr_assert(eq(int, sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK), "%s: %s", sql, sqlite3_errmsg(db));
    while (sqlite3_step(row) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(row); i++) {
            const char *value = (const char *)sqlite3_column_text(row, i);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", value ? value : "NULL");
        }
    cr_assert(eq(str, text, (char *)wanted), "%s", sql);
    sqlite3_finalize(row);
}

Test(unit_export_activities, sqlite_has_their_durations)
{
    struct analysis session = loaded_of(activities_session());
    const struct export_options options = { 0 };
    sqlite3 *db;
    EXPECT_SUCCESS(find_export("sqlite")->write_files(&session, &options, test_path("activities.db"), &error));
    cr_assert(eq(int, sqlite3_open_v2(test_path("activities.db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK));
    expect_row(db, "SELECT kind, name, number, time_ns, duration_ns, wait_ns, tid FROM activities ORDER BY time_ns",
               "activity seed NULL 100 200 50 4712 activity seed NULL 200 200 0 4712 "
               "marker Test=WriteFile 5 250 100 0 4712 ");
    expect_row(db, "SELECT time_ns, since_previous_ns, number, tid, text, duration_ns FROM report_marks",
               "250 250 5 4712 Test=WriteFile 100 ");
    sqlite3_close(db);
    analysis_drop(&session);
}
