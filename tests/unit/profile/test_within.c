/* Only the time of each thread in its activities: timers of PerfLog, and START to END of trace events. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/event.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/session_writer.h"

TestSuite(unit_within, .timeout = 300);

enum { F = 0x1000, G = 0x2000, NONE = 0, ERROR = 10 };

static const char PERFLOG[16] = { '\xc4', '\xb1', '\x5a', '\x3f', '\x02', '\x8d', '\x6b', '\x4e',
                                  '\x9c', '\x17', 'P',    'E',    'R',    'F',    'L',    'G' };
static const char JOB[16] = "job of the test";

static void write_timer(struct writer *w, uint64_t time, unsigned type, unsigned number, const char *name)
{
    char data[64] = { (char)number };
    memcpy(data + 4, name, strlen(name));
    write_trace_event(
        w, PERFLOG,
        &(struct written_event){ .time = time, .type = type, .data = data, .size = (uint32_t)(4 + strlen(name)) });
}

static void write_job(struct writer *w, uint64_t time, unsigned type)
{
    write_trace_event(w, JOB, &(struct written_event){ .time = time, .type = type });
}

/* Thread 1 runs F from 10 to 200, which calls G from 50 to 100 and is blocked from 110 for 40 ticks. Thread 2 runs G
 * from 0 to 300. */
static void write_threads(struct writer *w)
{
    write_process(w, 1, 100, "/bin/within");
    write_thread(w, 1, 1, 101, SOURCE_PERF, "one");
    write_thread(w, 1, 2, 102, SOURCE_PERF, "two");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/bin/within");
    write_symbol_module(w, 1, "/bin/within");
    write_symbol(w, 1, 0, 0, F, "f");
    write_symbol(w, 1, 0, 0, G, "g");
    begin_events(w, 1, 1, 0, 10, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 50, G);
    write_exit(w, 100);
    write_off_cpu(w, false, 110, 40);
    write_exit(w, 200);
    end_events(w, true);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 0, G);
    write_exit(w, 300);
    end_events(w, true);
}

static void write_activities(struct writer *w)
{
    write_event_class(w, 1, PERFLOG, "perflog");
    write_event_class(w, 1, JOB, "job");
    begin_trace_events(w, 1, 1, 0);
    write_timer(w, 20, EVENT_TRACE_TYPE_START, 1, "Test=Write,Bytes=1");
    write_timer(w, 40, EVENT_TRACE_TYPE_START, 2, "Test=Read");
    write_timer(w, 60, EVENT_TRACE_TYPE_END, 1, "Test=Write,Bytes=1");
    write_timer(w, 80, EVENT_TRACE_TYPE_END, 2, "Test=Read");
    write_timer(w, 90, EVENT_TRACE_TYPE_START, 1, "Test=Write,Bytes=2");
    write_timer(w, 95, ERROR, 1, "Test=Write,Bytes=2");
    write_timer(w, 120, EVENT_TRACE_TYPE_START, 3, "");
    write_timer(w, 130, EVENT_TRACE_TYPE_START, 3, "");
    write_timer(w, 160, EVENT_TRACE_TYPE_END, 3, "");
    end_trace_events(w, true);
    begin_trace_events(w, 1, 2, 0);
    write_job(w, 0, EVENT_TRACE_TYPE_START);
    write_job(w, 100, EVENT_TRACE_TYPE_END);
    end_trace_events(w, true);
    writer_save(w, test_path("within.dwell"));
    writer_free(w);
}

static void within_load(struct analysis *analysis, const char *what, const char *more, const char *from)
{
    static struct analysis_options options;
    options = (struct analysis_options){ .jobs = 1 };
    selection_add_name(&options.selection.within, what);
    if (more)
        selection_add_name(&options.selection.within, more);
    if (from)
        cr_assert(selection_moment_parse("--from", from, &options.selection.from, &(struct error){ NULL }));
    struct writer *w = writer_new();
    write_threads(w);
    write_activities(w);
    load_with(analysis, test_path("within.dwell"), &options);
}

static struct times within_function(const struct analysis *analysis, const char *name)
{
    struct times *groups = rollup_groups(analysis->rollup, BY_FUNCTION), found = { 0 };
    for (size_t i = 0; i < analysis->profile->function_count; i++)
        if (strcmp(analysis->names[i].name, name) == 0)
            found = groups[i];
    free(groups);
    return found;
}

static void expect_within(const char *what, const char *more, const char *from, uint64_t f_exclusive,
                          uint64_t g_exclusive, uint64_t application)
{
    struct analysis analysis;
    within_load(&analysis, what, more, from);
    cr_assert(eq(u64, within_function(&analysis, "f").elapsed_exclusive, f_exclusive), "%s", what);
    cr_assert(eq(u64, within_function(&analysis, "g").elapsed_exclusive, g_exclusive), "%s", what);
    cr_assert(eq(u64, analysis.rollup->session.elapsed_inclusive, f_exclusive + g_exclusive), "%s", what);
    cr_assert(eq(u64, analysis.rollup->session.application_inclusive, application), "%s", what);
    selection_names_free((struct selection_names *)&analysis.request.within);
    analysis_drop(&analysis);
}

Test(unit_within, intervals_are_cut_at_the_begin_and_end_of_a_marker)
{
    expect_within("marker:Test=Write,Bytes=1", NULL, NULL, 30, 10, 40); /* 20 to 60 */
    expect_within("marker:Test=Read", NULL, NULL, 10, 30, 40);          /* 40 to 80 */
    expect_within("marker:2", NULL, NULL, 10, 30, 40);
}

Test(unit_within, a_part_of_a_markers_string_names_it)
{
    expect_within("marker:Test=Write", NULL, NULL, 30, 10, 40);
    expect_within("marker:Bytes=?", NULL, NULL, 30, 10, 40);
}

Test(unit_within, ranges_that_overlap_count_once)
{
    expect_within("marker:Test=*", NULL, NULL, 30, 30, 60); /* 20 to 80 */
    expect_within("marker:1", "marker:2", NULL, 30, 30, 60);
    expect_within("marker:1", "activity:job", NULL, 30, 110, 140); /* and 0 to 100 of the other thread */
}

Test(unit_within, a_timer_that_begins_anew_has_no_earlier_time_and_a_failed_one_none)
{
    expect_within("marker:3", NULL, NULL, 30, 0, 0); /* 130 to 160, in the flagged interval */
    struct analysis analysis;
    within_load(&analysis, "marker:3", NULL, NULL);
    cr_assert(eq(u64, within_function(&analysis, "f").blocked_exclusive, 10)); /* 100 to 140, as if at its start */
    analysis_drop(&analysis);
}

Test(unit_within, activities_of_trace_events_are_on_their_thread)
{
    expect_within("activity:job", NULL, NULL, 0, 100, 100);
    expect_within("activity:j*", NULL, NULL, 0, 100, 100);
    expect_within("activity:20626f6a-666f-7420-6865-207465737400", NULL, NULL, 0, 100, 100);
}

Test(unit_within, from_cuts_the_ranges)
{
    expect_within("marker:1", NULL, "50ns", 0, 10, 10);
    expect_within("activity:job", NULL, "60ns", 0, 40, 40);
}

Test(unit_within, all_timers_and_the_rest_of_the_time_add_up)
{
    struct thread_ranges ranges = { 0 };
    thread_ranges_add(&ranges, 2, 50, 90);
    thread_ranges_add(&ranges, 1, 20, 60);
    thread_ranges_add(&ranges, 1, 40, 80);
    thread_ranges_add(&ranges, 1, 80, 90);
    thread_ranges_add(&ranges, 1, 100, 100);
    thread_ranges_join(&ranges, 30, 85);
    cr_assert(eq(sz, ranges.count, 2));
    cr_assert(ranges.list[0].thread == 1 && ranges.list[0].begin == 30 && ranges.list[0].end == 85);
    cr_assert(ranges.list[1].thread == 2 && ranges.list[1].begin == 50 && ranges.list[1].end == 85);
    cr_assert(thread_ranges_hold(&ranges, 1, 30) && !thread_ranges_hold(&ranges, 1, 85));
    cr_assert(not(thread_ranges_hold(&ranges, 1, 29)));
    cr_assert(not(thread_ranges_hold(&ranges, 3, 50)));
    thread_ranges_free(&ranges);
}
