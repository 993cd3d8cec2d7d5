/* How the lines of a log are assigned to markers, applications and runs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/perflog.h"

TestSuite(unit_perflog_log, .init = log_quietly, .timeout = 300);

#define APP(name, pid) "## PERF ## REGISTERED APP [" name "] PROCESSID [" pid "]\n"
#define RESOLUTION(number) "## PERF ## RESOLUTION [" #number "] TICKS PER SECOND\n"
#define MARKER_OF(app, string, id) "## PERF ## REGISTERED MARKER [" string "] AS [" #id "] BY APP [" app "]\n"
#define DURATION_OF(app, id, ticks) "## PERF ## APP [" app "] EVT [" #id "] DUR [" #ticks "]\n"

/* One line for each row: application, marker, id, count, total in milliseconds. */
static void expect_rows(struct perflog *log, bool instances, const char *wanted)
{
    char text[4096] = "";
    struct rows rows = rows_of(log, instances);
    perflog_sort(rows.list, rows.count, "order");
    for (size_t i = 0; i < rows.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s %u %llu %llu\n", rows.list[i].app,
                 rows.list[i].marker, rows.list[i].id, (unsigned long long)rows.list[i].count,
                 (unsigned long long)rows.list[i].total / 1000000);
    cr_assert(eq(str, text, (char *)wanted));
    free(rows.list);
    perflog_free(log);
}

static void expect_log(const char *text, const char *wanted)
{
    expect_rows(log_of(text), false, wanted);
}

static void expect_instances(const char *text, const char *wanted)
{
    expect_rows(log_of_bytes(text, strlen(text), true), true, wanted);
}

static const char again[] = LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) LOG_MARKER("m", 1) LOG_DURATION(1, 2)
    LOG_MARKER("n", 1) LOG_DURATION(1, 4) LOG_MARKER("m", 2) LOG_DURATION(2, 8) LOG_DURATION(1, 16);

Test(unit_perflog_log, a_string_registered_again_is_the_same_row)
{
    expect_log(again, "a m 1 3 11\na n 1 2 20\n");
}

Test(unit_perflog_log, instances_keep_registrations_apart)
{
    expect_instances(again, "a m 1 1 1\na m 1 1 2\na n 1 2 20\na m 2 1 8\n");
}

Test(unit_perflog_log, ids_without_a_string_have_rows_of_their_own)
{
    expect_log(LOG_HEADER LOG_DURATION(3, 1) LOG_DURATION(4, 2) LOG_DURATION(3, 4) LOG_MARKER("", 4) LOG_DURATION(4, 8),
               "a  3 2 5\na  4 2 10\n");
}

Test(unit_perflog_log, a_marker_without_durations_is_a_row)
{
    expect_log(LOG_HEADER LOG_MARKER("never", 1) LOG_MARKER("CPU: a", 103) LOG_MARKER("MEM: a", 102)
                   LOG_MARKER("value", 5) "## PERF ## APP [a] EVT [5] CPU [1.0]\n",
               "a never 1 0 0\n");
}

Test(unit_perflog_log, calibration_counts_nowhere)
{
    expect_log(LOG_HEADER LOG_MARKER("calibration", 101)
                   LOG_DURATION(101, 1) "## PERF ## APP [a] CAL [41]\n"
                                        "## PERF ## APP [a] CPU CAL [74328]\n"
                                        "## PERF ## APP [a] CPU MON [a] FREQ [100]\n",
               "");
}

Test(unit_perflog_log, applications_have_ids_of_their_own)
{
    expect_log(APP("a", "0x1") RESOLUTION(1000) APP("b", "0x2") RESOLUTION(2000) MARKER_OF("a", "m", 1)
                   MARKER_OF("b", "m", 1) MARKER_OF("b", "n", 2) DURATION_OF("a", 1, 1) DURATION_OF("b", 1, 2)
                       DURATION_OF("b", 2, 4) DURATION_OF("a", 2, 8),
               "a m 1 1 1\nb m 1 1 1\nb n 2 1 2\na  2 1 8\n");
}

Test(unit_perflog_log, appended_runs_have_pid_resolution_and_markers_of_their_own)
{
    static const char text[] =
        LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) "## PERF ## OSVERSION=[7.0] BUILD=[2]\n" APP("a", "0x2")
            RESOLUTION(10) LOG_DURATION(1, 1) LOG_MARKER("m", 2) LOG_DURATION(2, 1);
    size_t count;
    struct perflog *log = log_of(text);
    const struct perflog_run *runs = perflog_runs(log, &count);
    cr_assert(eq(sz, count, 2));
    cr_assert(eq(u64, runs[0].pid, 0x03d3002e));
    cr_assert(eq(u64, runs[1].pid, 2));
    cr_assert(eq(u64, runs[0].resolution, 1000));
    cr_assert(eq(u64, runs[1].resolution, 10));
    cr_assert(eq(str, (char *)runs[1].fields[FIELD_OSVERSION], "7.0"));
    cr_assert(runs[1].fields[FIELD_PLATFORM] == NULL);
    perflog_free(log);
    /* 1 of 1000 and 1 of 10 a second; the second run did not register id 1 */
    expect_log(text, "a m 1 2 101\na  1 1 100\n");
}

/* Programs that start at the same time interleave their lines. */
Test(unit_perflog_log, headers_may_be_interleaved)
{
    expect_log("## PERF ## OSVERSION=[6.0] BUILD=[1]\n## PERF ## OSVERSION=[6.0] BUILD=[1]\n" APP("a", "1")
                   APP("b", "2") RESOLUTION(1000) RESOLUTION(1000) DURATION_OF("a", 1, 1) DURATION_OF("b", 1, 2),
               "a  1 1 1\nb  1 1 2\n");
}

Test(unit_perflog_log, headers_need_not_name_the_application)
{
    expect_log("## PERF ## OSVERSION=[6.0] BUILD=[1]\n" RESOLUTION(1000) MARKER_OF("a", "m", 1)
                   DURATION_OF("a", 1, 1) "## PERF ## OSVERSION=[6.0] BUILD=[1]\n" RESOLUTION(100)
                       DURATION_OF("a", 1, 1),
               "a m 1 1 1\na  1 1 10\n");
    expect_log(APP("", "0x1") RESOLUTION(1000) MARKER_OF("", "m", 1) DURATION_OF("", 1, 1), " m 1 1 1\n");
    expect_log(RESOLUTION(1000) DURATION_OF("a", 1, 1), "a  1 1 1\n");
}

Test(unit_perflog_log, an_application_without_a_header_has_the_previous_resolution)
{
    expect_log(LOG_HEADER MARKER_OF("b", "m", 1) DURATION_OF("b", 1, 5), "b m 1 1 5\n");
}

Test(unit_perflog_log, durations_without_any_resolution_are_in_ticks)
{
    static const char text[] = APP("a", "1") MARKER_OF("a", "m", 1) DURATION_OF("a", 1, 5) DURATION_OF("a", 1, 6)
        APP("b", "2") DURATION_OF("b", 1, 7);
    struct perflog *log = log_of(text);
    struct rows rows = rows_of(log, false);
    const struct perflog_row *row = row_of(&rows, "a", "m");
    cr_assert(row->in_ticks);
    cr_assert(eq(u64, row->count, 2));
    cr_assert(eq(u64, row->total, 11));
    cr_assert(eq(u64, row->least, 5));
    cr_assert(eq(u64, row->mean, 6));
    cr_assert(eq(u64, row->greatest, 6));
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    cr_assert(eq(u64, perflog_totals(log).events, 3));
    free(rows.list);
    perflog_free(log);
    log = perflog_new(false);
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    cr_assert(perflog_load(log, in, "test.log"));
    fclose(in);
    perflog_finish(log, 10);
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    expect_rows(log, false, "a m 1 2 1100\nb  1 1 700\n");
}

/* Their sum would have no unit. */
Test(unit_perflog_log, ticks_of_an_unknown_resolution_are_not_added_to_times)
{
    static const char *const texts[] = { LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1),
                                         APP("a", "1") MARKER_OF("a", "m", 1) DURATION_OF("a", 1, 5) };
    struct perflog *log = perflog_new(false);
    for (int i = 0; i < 2; i++) {
        FILE *in = fmemopen((void *)texts[i], strlen(texts[i]), "r");
        cr_assert(perflog_load(log, in, "test.log"));
        fclose(in);
    }
    perflog_finish(log, 0);
    struct rows rows = rows_of(log, false);
    cr_assert(eq(sz, rows.count, 2));
    perflog_sort(rows.list, rows.count, "total");
    cr_assert(eq(u64, rows.list[0].total, 1000000));
    cr_assert(not(rows.list[0].in_ticks));
    cr_assert(eq(u64, rows.list[1].total, 5));
    cr_assert(rows.list[1].in_ticks);
    free(rows.list);
    perflog_free(log);
}

/* RESOLUTION holds for every application after it in the file, until another one is stated. */
Test(unit_perflog_log, a_later_application_has_the_resolution_of_the_header)
{
    expect_log(LOG_HEADER LOG_DURATION(1, 1) APP("b", "0x2") MARKER_OF("b", "m", 1) DURATION_OF("b", 1, 5),
               "a  1 1 1\nb m 1 1 5\n");
}

Test(unit_perflog_log, the_application_registered_again_has_the_resolution_of_the_header)
{
    expect_log(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) APP("a", "0x2") LOG_MARKER("m", 1) LOG_DURATION(1, 5),
               "a m 1 2 6\n");
}

Test(unit_perflog_log, the_resolution_may_come_before_the_application)
{
    expect_log("## PERF ## OSVERSION=[6.0] BUILD=[1]\n" RESOLUTION(1000) APP("a", "0x1") LOG_MARKER("m", 1)
                   LOG_DURATION(1, 5),
               "a m 1 1 5\n");
    expect_log(RESOLUTION(1000) APP("a", "0x1") LOG_DURATION(1, 5), "a  1 1 5\n");
    /* It is not the earlier application's, which goes on with its own. */
    expect_log(LOG_HEADER LOG_MARKER("m", 1) RESOLUTION(10) APP("b", "0x2") DURATION_OF("b", 1, 5) LOG_DURATION(1, 5),
               "a m 1 1 5\nb  1 1 500\n");
    /* A header without REGISTERED APP so far does not end an application's markers. */
    expect_log(LOG_HEADER LOG_MARKER("m", 1) "## PERF ## OSVERSION=[6.0] BUILD=[1]\n" RESOLUTION(10) APP("b", "0x2")
                   DURATION_OF("b", 1, 5) LOG_DURATION(1, 5),
               "a m 1 1 5\nb  1 1 500\n");
}

Test(unit_perflog_log, a_resolution_holds_until_another_is_stated)
{
    expect_log(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) APP("b", "0x2") RESOLUTION(10) DURATION_OF("b", 1, 1)
                   APP("c", "0x3") DURATION_OF("c", 1, 1) LOG_DURATION(1, 1),
               "a m 1 2 2\nb  1 1 100\nc  1 1 100\n");
    /* Appended by another device: markers registered before its RESOLUTION are in its ticks, too. */
    expect_log(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) APP("a", "0x2") LOG_MARKER("n", 1) RESOLUTION(10)
                   LOG_DURATION(1, 1),
               "a m 1 1 1\na n 1 1 100\n");
}

Test(unit_perflog_log, id_101_with_a_string_of_the_programs_own_is_data)
{
    expect_log(LOG_HEADER LOG_MARKER("mine", 101) LOG_DURATION(101, 7), "a mine 101 1 7\n");
    expect_log(LOG_HEADER LOG_DURATION(101, 7) LOG_MARKER("Calibration", 101) LOG_DURATION(101, 7), "");
    expect_log(LOG_HEADER LOG_MARKER("mine", 101) LOG_DURATION(101, 7) LOG_MARKER("calibration", 101)
                   LOG_DURATION(101, 7) APP("a", "2") LOG_DURATION(101, 7),
               "a mine 101 1 7\n");
}

/* Each application begins with it, so that its run is made for it. */
Test(unit_perflog_log, id_101_is_the_first_line_of_many_applications)
{
    enum { APPLICATIONS = 200 };
    static char text[APPLICATIONS * 160];
    for (int i = 0; i < APPLICATIONS; i++) {
        char *end = text + strlen(text);
        snprintf(end, sizeof text - (size_t)(end - text), MARKER_OF("a%d", "mine", 101) DURATION_OF("a%d", 101, 7), i,
                 i);
    }
    struct perflog *log = log_of(text);
    struct rows rows = rows_of(log, false);
    cr_assert(eq(sz, rows.count, APPLICATIONS));
    for (size_t i = 0; i < rows.count; i++)
        cr_assert(eq(u64, rows.list[i].count, 1), "%zu", i);
    free(rows.list);
    perflog_free(log);
}

Test(unit_perflog_log, a_header_of_which_only_the_resolution_is_left)
{
    expect_log(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) RESOLUTION(10) LOG_DURATION(1, 1),
               "a m 1 1 1\na  1 1 100\n");
    expect_log(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) RESOLUTION(1000) LOG_DURATION(1, 1), "a m 1 2 2\n");
}

Test(unit_perflog_log, several_files)
{
    static const char *const texts[] = { LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1),
                                         LOG_HEADER LOG_DURATION(1, 2) LOG_MARKER("m", 5) LOG_DURATION(5, 4) };
    struct perflog *log = perflog_new(false);
    for (int i = 0; i < 2; i++) {
        FILE *in = fmemopen((void *)texts[i], strlen(texts[i]), "r");
        cr_assert(perflog_load(log, in, "the same"));
        fclose(in);
    }
    perflog_finish(log, 0);
    expect_rows(log, false, "a m 1 2 5\na  1 1 2\n");
}

Test(unit_perflog_log, the_librarys_other_form)
{
    static const char text[] = "### PERF TEST [ x ] ###\n## PERF ## Frequency is [1000] ticks per second\n"
                               "## PERF ## [one] took [1] ticks\n## PERF ## [two [2]] took [2] ticks\n"
                               "## PERF ## [one] took [4] ticks\n";
    expect_log(text, " one 0 2 5\n two [2] 1 1 2\n");
    expect_instances(text, " one 0 2 5\n two [2] 1 1 2\n");
}

Test(unit_perflog_log, errors_and_attributes)
{
    size_t count;
    struct perflog *log = log_of(LOG_HEADER LOG_MARKER("m", 1) "## PERF ## APP [a] EVT [1] ERROR\n" LOG_DURATION(
        1, 7) "## PERF ## APP [a] EVT [1] ATTR [Rate] [0.1]\n"
              "## PERF ## APP [a] EVT [1] ATTR [Blocks [4 K]] [4294967295]\n"
              "## PERF ## APP [a] EVT [1] ATTR [Rate] [-1e+300]\n"
              "## PERF ## APP [a] EVT [2] ERROR\n");
    const struct perflog_marker *markers = perflog_markers(log, &count);
    cr_assert(eq(sz, count, 2));
    cr_assert(eq(u64, markers[0].errors, 1));
    cr_assert(eq(u64, markers[1].errors, 1));
    cr_assert(eq(sz, markers[0].attribute_count, 2));
    cr_assert(eq(str, (char *)markers[0].attributes[0].name, "Rate"));
    cr_assert(eq(str, markers[0].attributes[0].value, "-1e+300"));
    cr_assert(eq(str, (char *)markers[0].attributes[1].name, "Blocks [4 K]"));
    cr_assert(eq(str, markers[0].attributes[1].value, "4294967295"));
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    expect_rows(log, false, "a m 1 1 7\na  2 0 0\n");
}

Test(unit_perflog_log, unknown_kinds_of_events_are_counted)
{
    size_t count;
    struct perflog *log =
        log_of(LOG_HEADER LOG_MARKER("m", 1) "## PERF ## APP [a] EVT [1] NOTE [n] [5]\n"
                                             "## PERF ## APP [a] EVT [1] ATTR [n]\n"
                                             "## PERF ## APP [a] EVT [1] NOTE [x=y]\n" LOG_DURATION(1, 7));
    const struct perflog_other *other = perflog_others(log, &count);
    cr_assert(eq(sz, count, 2));
    cr_assert(eq(str, (char *)other[0].name, "NOTE"));
    cr_assert(eq(u64, other[0].count, 2));
    cr_assert(eq(str, (char *)other[1].name, "ATTR"));
    cr_assert(eq(u64, other[1].count, 1));
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    expect_rows(log, false, "a m 1 1 7\n");
}

/* ---- logs of any length ---- */

Test(unit_perflog_log, a_plot_of_any_number_of_values)
{
    for (size_t values = 1; values < 1000; values++) {
        char *text = NULL;
        size_t length, count;
        FILE *out = open_memstream(&text, &length);
        fputs(LOG_HEADER, out);
        for (size_t i = 0; i < values; i++)
            fprintf(out, "## PERF ## APP [a] EVT [103] CPU [%zu]\n", i);
        fclose(out);
        struct perflog *log = log_of_bytes(text, length, false);
        const struct perflog_series *series = perflog_series(log, &count);
        const struct perflog_plot *plot = &series[0].plot;
        int128 sum = 0;
        uint64_t points = 0;
        for (size_t i = 0; i < plot->used; i++) {
            sum += plot->sums[i];
            points += plot->counts[i];
            cr_assert(i + 1 == plot->used || plot->counts[i] == plot->width);
            cr_assert(i == 0 ||
                      plot->sums[i] * (int128)plot->counts[i - 1] > plot->sums[i - 1] * (int128)plot->counts[i]);
        }
        cr_assert(eq(u64, points, values));
        cr_assert(sum == series[0].sum);
        cr_assert(plot->used == values || (plot->used > PLOT_POINTS / 2 && plot->used <= PLOT_POINTS));
        perflog_free(log);
        free(text);
    }
}

/* ---- meaningless lines change nothing ---- */

static uint64_t random_state = 20;

static uint32_t garbage_random(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

/* Arbitrary bytes, parts of valid lines, or the beginning of a truncated line. */
static void put_garbage(FILE *out)
{
    static const char *const pieces[] = { "##", " PERF ", "APP ", "[a]", " EVT ", "[1]", " DUR ",
                                          "[",  "]",      "AS",   " ",   "#",     "[x" };
    static const char *const cut[] = { "## PERF ## APP [a] EVT [1] DUR [123", "## PERF ## APP [a] EVT [103] CPU [5",
                                       "## PERF ## REGISTERED MARKER [m] AS [1] BY APP [a",
                                       "## PERF ## RESOLUTION [17" };
    const uint32_t way = garbage_random(3), length = garbage_random(40);
    if (way == 0)
        for (uint32_t i = 0; i < length; i++) {
            const int c = (int)garbage_random(256);
            fputc(c == '\n' ? ' ' : c, out);
        }
    else if (way == 1) /* never a valid line: DUR has no number in its brackets */
        for (uint32_t i = 0; i < length; i++)
            fputs(pieces[garbage_random(sizeof pieces / sizeof *pieces)], out);
    else {
        const char *line = cut[garbage_random(sizeof cut / sizeof *cut)];
        fwrite(line, 1, garbage_random((uint32_t)strlen(line) + 1), out);
    }
    fputc('\n', out);
}

static struct perflog *with_garbage(const char *const *lines, size_t count, size_t *garbage)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    *garbage = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t some = garbage_random(4); some > 0; some--, ++*garbage)
            put_garbage(out);
        fputs(lines[i], out);
    }
    fclose(out);
    struct perflog *log = log_of_bytes(text, length, false);
    free(text);
    return log;
}

Test(unit_perflog_log, random_lines_in_between_never_change_the_figures)
{
    static const char *const lines[] = {
        "## PERF ## OSVERSION=[6.0] BUILD=[1]\n",
        APP("a", "0x1"),
        RESOLUTION(1000),
        MARKER_OF("a", "m", 1),
        DURATION_OF("a", 1, 3),
        APP("b", "0x2"),
        RESOLUTION(2000),
        MARKER_OF("b", "m", 1),
        DURATION_OF("b", 1, 4),
        DURATION_OF("a", 1, 5),
        MARKER_OF("a", "n", 1),
        DURATION_OF("a", 1, 6),
        "## PERF ## APP [a] EVT [103] CPU [12.5]\n",
        DURATION_OF("b", 9, 8),
    };
    for (int round = 0; round < 500; round++) {
        size_t garbage, count;
        struct perflog *log = with_garbage(lines, sizeof lines / sizeof *lines, &garbage);
        const struct perflog_series *series = perflog_series(log, &count);
        cr_assert(le(u64, perflog_totals(log).bad_lines, garbage));
        cr_assert(eq(sz, count, 1));
        cr_assert(series[0].count == 1 && series[0].sum == 12500000);
        expect_rows(log, false, "a m 1 2 8\nb m 1 1 2\na n 1 1 6\nb  9 1 4\n");
    }
}
