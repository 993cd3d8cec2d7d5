/*
 * "PerfLog Output File Contents", sentence by sentence. Each test is named after a sentence of the page and begins with
 * what it says. The page's examples are copied as they are.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/exported.h"
#include "support/perflog.h"

TestSuite(unit_seed_perflog, .init = log_quietly, .timeout = 300);

#define EXAMPLE_HEADER                                                                                                 \
    "        ## PERF ## OSVERSION=[6.0] BUILD=[1234]\n"                                                                \
    "## PERF ## PLATFORM=[CEPC] CPU=[x86]\n"                                                                           \
    "## PERF ## DEVNAME=[CEPC]\n"                                                                                      \
    "## PERF ## REGISTERED APP [myperfapp] PROCCESSID [0x03d3002e]\n"                                                  \
    "## PERF ## RESOLUTION [1193180] TICKS PER SECOND\n"
#define EXAMPLE_MARKER "## PERF ## REGISTERED MARKER [Test=MyTest] AS [1] BY APP [myperfapp]\n"
#define EXAMPLE_CPU_MONITOR "## PERF ## REGISTERED MARKER [CPU: myperfapp] AS [103] BY APP [myperfapp]\n"
#define EXAMPLE_MEM_MONITOR "## PERF ## REGISTERED MARKER [MEM: myperfapp] AS [102] BY APP [myperfapp]\n"
#define EXAMPLE_DURATION "## PERF ## APP [myperfapp] EVT [1] DUR [122519]\n"
#define EXAMPLE_CPU "## PERF ## APP [myperfapp] EVT [103] CPU [57.843834]\n"
#define EXAMPLE_MEM "## PERF ## APP [myperfapp] EVT [102] MEM [10059776]\n"
#define CALIBRATION "## PERF ## APP [myperfapp] CAL [74]\n## PERF ## APP [myperfapp] CPU CAL [74328]\n"

static const struct perflog_run *only_run(const struct perflog *log)
{
    size_t count;
    const struct perflog_run *runs = perflog_runs(log, &count);
    cr_assert(eq(sz, count, 1));
    return runs;
}

static void expect_field(const struct perflog *log, enum perflog_field field, const char *value)
{
    cr_assert(eq(str, (char *)only_run(log)->fields[field], (char *)value));
}

/* The total and count of a marker of myperfapp. Every line must have been understood. */
static void expect_marker(struct perflog *log, const char *marker, uint64_t count, uint64_t total_ns)
{
    struct rows rows = rows_of(log, false);
    const struct perflog_row *row = row_of(&rows, "myperfapp", marker);
    cr_assert(eq(u64, row->count, count));
    cr_assert(eq(u64, row->total, total_ns));
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    free(rows.list);
    perflog_free(log);
}

static void expect_value(const char *text, bool memory, int128 millionths)
{
    size_t count;
    struct perflog *log = log_of(text);
    const struct perflog_series *series = perflog_series(log, &count);
    cr_assert(eq(sz, count, 1));
    cr_assert(eq(int, series[0].memory, memory));
    cr_assert(series[0].sum == millionths);
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    perflog_free(log);
}

/* A log has a header with system information, calibration tests, and then timing data, CPU and memory use. */
Test(unit_seed_perflog, the_log_contains_a_header_calibration_timing_data_and_usage)
{
    size_t count;
    struct perflog *log = log_of(EXAMPLE_HEADER CALIBRATION EXAMPLE_MARKER EXAMPLE_CPU_MONITOR EXAMPLE_MEM_MONITOR
                                     EXAMPLE_DURATION EXAMPLE_CPU EXAMPLE_MEM);
    perflog_series(log, &count);
    cr_assert(eq(sz, count, 2));
    expect_marker(log, "Test=MyTest", 1, 102682747);
}

/* Calibration is for the library only. A parser can ignore it. */
Test(unit_seed_perflog, calibration_information_can_be_safely_ignored)
{
    struct perflog *log = log_of(EXAMPLE_HEADER CALIBRATION "## PERF ## APP [myperfapp] EVT [101] DUR [900]\n");
    struct rows rows = rows_of(log, false);
    cr_assert(eq(sz, rows.count, 0));
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    free(rows.list);
    perflog_free(log);
}

/* The header has the five lines of the example, the first of which is indented. */
Test(unit_seed_perflog, the_header_has_the_following_structure)
{
    struct perflog *log = log_of(EXAMPLE_HEADER);
    const struct perflog_run *run = only_run(log);
    cr_assert(eq(str, (char *)run->app, "myperfapp"));
    cr_assert(eq(u64, run->pid, 0x03d3002e));
    cr_assert(eq(u64, run->resolution, 1193180));
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 0));
    perflog_free(log);
}

/* OSVERSION: major and minor version of the system. BUILD: its build number. */
Test(unit_seed_perflog, osversion_is_major_minor_and_build_is_the_build_number)
{
    struct perflog *log = log_of(EXAMPLE_HEADER);
    expect_field(log, FIELD_OSVERSION, "6.0");
    expect_field(log, FIELD_BUILD, "1234");
    perflog_free(log);
}

/* PLATFORM and CPU: abbreviations, for example CEPC and x86. */
Test(unit_seed_perflog, platform_and_cpu_are_abbreviations)
{
    struct perflog *log = log_of(EXAMPLE_HEADER);
    expect_field(log, FIELD_PLATFORM, "CEPC");
    expect_field(log, FIELD_CPU, "x86");
    perflog_free(log);
}

/* DEVNAME: the device's name. If it has none, it is that of the platform. */
Test(unit_seed_perflog, devname_if_unavailable_is_the_same_as_platform)
{
    struct perflog *log = log_of("## PERF ## OSVERSION=[6.0] BUILD=[1234]\n## PERF ## PLATFORM=[CEPC] CPU=[x86]\n"
                                 "## PERF ## REGISTERED APP [myperfapp] PROCCESSID [0x03d3002e]\n");
    struct table t = view_perflog_runs(log);
    cr_assert(eq(str, t.cells[9].text, "CEPC"));
    cr_assert(eq(str, (char *)t.columns[9].key, "devname"));
    table_drop(&t);
    perflog_free(log);
}

/* REGISTERED APP: a string of the application, which it need not set. */
Test(unit_seed_perflog, registered_app_may_not_be_set)
{
    struct perflog *log = log_of("## PERF ## REGISTERED APP [] PROCCESSID [0x03d3002e]\n"
                                 "## PERF ## RESOLUTION [1193180] TICKS PER SECOND\n"
                                 "## PERF ## REGISTERED MARKER [Test=MyTest] AS [1] BY APP []\n"
                                 "## PERF ## APP [] EVT [1] DUR [122519]\n");
    struct rows rows = rows_of(log, false);
    cr_assert(eq(u64, row_of(&rows, "", "Test=MyTest")->total, 102682747));
    free(rows.list);
    perflog_free(log);
}

/* PROCESSID: the process that uses the library. The example spells it PROCCESSID. */
Test(unit_seed_perflog, processid_is_the_pid_of_the_application)
{
    struct perflog *log = log_of(EXAMPLE_HEADER);
    cr_assert(only_run(log)->pid_known);
    cr_assert(eq(u64, only_run(log)->pid, 0x03d3002e));
    perflog_free(log);
    log = log_of("## PERF ## REGISTERED APP [myperfapp] PROCESSID [0x03d3002e]\n");
    cr_assert(eq(u64, only_run(log)->pid, 0x03d3002e));
    perflog_free(log);
}

/* RESOLUTION: the number of clock ticks per second. */
Test(unit_seed_perflog, resolution_is_the_number_of_clock_ticks_per_second)
{
    expect_marker(log_of("## PERF ## REGISTERED APP [myperfapp] PROCCESSID [0x1]\n"
                         "## PERF ## RESOLUTION [122519] TICKS PER SECOND\n" EXAMPLE_MARKER EXAMPLE_DURATION),
                  "Test=MyTest", 1, 1000000000);
}

/* All values of timers are in ticks, not seconds. */
Test(unit_seed_perflog, all_timer_values_are_represented_as_ticks_not_seconds)
{
    struct perflog *log =
        log_of("## PERF ## REGISTERED APP [myperfapp] PROCCESSID [0x1]\n" EXAMPLE_MARKER EXAMPLE_DURATION);
    struct rows rows = rows_of(log, false);
    const struct perflog_row *row = row_of(&rows, "myperfapp", "Test=MyTest");
    cr_assert(row->in_ticks);
    cr_assert(eq(u64, row->total, 122519));
    free(rows.list);
    perflog_free(log);
}

/* A marker is registered under a number, which associates all later output with it. */
Test(unit_seed_perflog, the_marker_id_associates_the_output_with_a_specific_marker)
{
    struct perflog *log =
        log_of(EXAMPLE_HEADER EXAMPLE_MARKER "## PERF ## REGISTERED MARKER [Test=Other] AS [2] BY APP [myperfapp]\n"
                                             "## PERF ## APP [myperfapp] EVT [2] DUR [1193180]\n" EXAMPLE_DURATION);
    struct rows rows = rows_of(log, false);
    cr_assert(eq(u64, row_of(&rows, "myperfapp", "Test=Other")->total, 1000000000));
    free(rows.list);
    expect_marker(log, "Test=MyTest", 1, 102682747);
}

/* An id can be registered again. Data that follows belongs to the most recent marker of that id. */
Test(unit_seed_perflog, data_that_follows_is_associated_with_the_most_recent_instance_of_the_marker)
{
    struct perflog *log = log_of(EXAMPLE_HEADER EXAMPLE_MARKER EXAMPLE_DURATION
                                 "## PERF ## REGISTERED MARKER [Test=Again] AS [1] BY APP [myperfapp]\n"
                                 "## PERF ## APP [myperfapp] EVT [1] DUR [1193180]\n");
    struct rows rows = rows_of(log, false);
    cr_assert(eq(u64, row_of(&rows, "myperfapp", "Test=Again")->total, 1000000000));
    free(rows.list);
    expect_marker(log, "Test=MyTest", 1, 102682747);
}

/* The form of a test timer marker, where the table writes "by" and the example "BY". */
Test(unit_seed_perflog, test_timer_marker_registration)
{
    expect_marker(log_of(EXAMPLE_HEADER EXAMPLE_MARKER EXAMPLE_DURATION), "Test=MyTest", 1, 102682747);
    expect_marker(log_of(EXAMPLE_HEADER
                         "## PERF ## REGISTERED MARKER [Test=MyTest] AS [1] by APP [myperfapp]\n" EXAMPLE_DURATION),
                  "Test=MyTest", 1, 102682747);
}

/* app_string is optional and describes the test case. */
Test(unit_seed_perflog, app_string_is_optional)
{
    expect_marker(log_of(EXAMPLE_HEADER "## PERF ## REGISTERED MARKER [] AS [1] BY APP [myperfapp]\n" EXAMPLE_DURATION),
                  "", 1, 102682747);
}

/* The form of a CPU monitor's registration. */
Test(unit_seed_perflog, cpu_monitor_registration)
{
    expect_value(EXAMPLE_HEADER EXAMPLE_CPU_MONITOR EXAMPLE_CPU, false, 57843834);
}

/* The form of a memory monitor's registration, where the table lacks a bracket and the example has it. */
Test(unit_seed_perflog, mem_monitor_registration)
{
    expect_value(EXAMPLE_HEADER EXAMPLE_MEM_MONITOR EXAMPLE_MEM, true, (int128)10059776 * 1000000);
    expect_value(EXAMPLE_HEADER
                 "## PERF ## REGISTERED MARKER [MEM: myperfapp] AS [102] BY APP myperfapp]\n" EXAMPLE_MEM,
                 true, (int128)10059776 * 1000000);
}

/* app_name is the same string as REGISTERED APP in the header: it has the header's resolution. */
Test(unit_seed_perflog, app_name_is_the_same_string_as_registered_app_in_the_header)
{
    struct perflog *log =
        log_of(EXAMPLE_HEADER "## PERF ## REGISTERED APP [second] PROCCESSID [0x2]\n"
                              "## PERF ## RESOLUTION [10] TICKS PER SECOND\n" EXAMPLE_MARKER EXAMPLE_DURATION);
    expect_marker(log, "Test=MyTest", 1, 102682747);
}

/* A timer can be started and stopped for an arbitrary number of iterations. */
Test(unit_seed_perflog, the_timer_can_be_started_and_stopped_for_an_arbitrary_number_of_iterations)
{
    enum { ITERATIONS = 5000 };
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fputs(EXAMPLE_HEADER EXAMPLE_MARKER, out);
    for (int i = 0; i < ITERATIONS; i++)
        fputs("## PERF ## APP [myperfapp] EVT [1] DUR [1193180]\n", out);
    fclose(out);
    expect_marker(log_of(text), "Test=MyTest", ITERATIONS, ITERATIONS * 1000000000ull);
    free(text);
}

/* A stopped timer logs the duration since its last activation. An exported recursive function is such a timer: its
 * durations add up to its inclusive time, and none of them is zero. */
Test(unit_seed_perflog, a_stopped_timer_logs_the_duration_since_the_last_activation)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/recursive");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/bin/recursive");
    write_symbol_module(w, 1, "/bin/recursive");
    write_symbol(w, 1, 0, 0, 0x2000, "again");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x2000);
    write_enter(w, 40, 0x2000);
    write_exit(w, 60);
    write_exit(w, 110);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    size_t length;
    char *text = exported(&analysis, "perflog", EXPORT_ELAPSED, &length);
    struct perflog *log = log_of(text);
    struct rows rows = rows_of(log, false);
    const struct perflog_row *row = row_of(&rows, "recursive", "again");
    cr_assert(eq(u64, row->count, 2));
    cr_assert(eq(u64, row->total, 100));
    cr_assert(eq(u64, row->least, 20));
    cr_assert(eq(u64, row->greatest, 80));
    free(rows.list);
    perflog_free(log);
    free(text);
    analysis_drop(&analysis);
}

/* An application can request the current statistics of its CPU and memory monitors. */
Test(unit_seed_perflog, monitoring_threads_output_their_current_statistics)
{
    size_t count;
    struct perflog *log =
        log_of(EXAMPLE_HEADER EXAMPLE_CPU_MONITOR EXAMPLE_MEM_MONITOR EXAMPLE_CPU EXAMPLE_MEM EXAMPLE_CPU);
    const struct perflog_series *series = perflog_series(log, &count);
    cr_assert(eq(sz, count, 2));
    cr_assert(eq(u64, series[0].count, 2));
    cr_assert(eq(u64, series[1].count, 1));
    perflog_free(log);
}

/* The example of a duration: 122519 ticks of 1193180 a second are 0.103 s. */
Test(unit_seed_perflog, test_timer_duration_example)
{
    expect_marker(log_of(EXAMPLE_HEADER EXAMPLE_MARKER EXAMPLE_DURATION), "Test=MyTest", 1, 102682747);
}

/* The example of CPU usage, in percent. */
Test(unit_seed_perflog, cpu_usage_example)
{
    expect_value(EXAMPLE_HEADER EXAMPLE_CPU, false, 57843834);
}

/* The example of memory usage, shown in bytes as logged. */
Test(unit_seed_perflog, mem_usage_example)
{
    struct perflog *log = log_of(EXAMPLE_HEADER EXAMPLE_MEM);
    struct table t = view_perflog_monitors(log, false);
    cr_assert(eq(str, t.cells[6].text, "10059776"));
    cr_assert(eq(str, t.cells[9].text, "bytes"));
    table_drop(&t);
    expect_value(EXAMPLE_HEADER EXAMPLE_MEM, true, (int128)10059776 * 1000000);
    perflog_free(log);
}

/* The Portuguese page has the same header. Its other examples were put into another order by the translation. They are
 * no lines of a log, and change none of its figures. */
Test(unit_seed_perflog, the_translated_page_has_the_same_header_and_no_other_lines)
{
    static const char text[] =
        EXAMPLE_HEADER "PERF ## ## REGISTERED MARKER [teste = MeuTeste] como [1] BY APP [myperfapp]\n"
                       "Dur EVT [1] ## APP Perf ## [myperfapp] [122519]\n"
                       "MEM [102] EVT Perf ## ## APP [myperfapp] [10059776]\n";
    struct perflog *log = log_of(text);
    struct rows rows = rows_of(log, false);
    cr_assert(eq(u64, only_run(log)->resolution, 1193180));
    cr_assert(eq(sz, rows.count, 0));
    cr_assert(eq(u64, perflog_totals(log).bad_lines, 3));
    free(rows.list);
    perflog_free(log);
}
