/* The critical path of hand-written sessions, to the tick: one session for each rule. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "causes/critical.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/wakes.h"

enum { MUTEX = OBJECT_MUTEX, CONDITION = OBJECT_CONDITION, BARRIER = OBJECT_BARRIER, JOIN = OBJECT_THREAD };

static const char *critical_name(const struct analysis *analysis, const struct critical_what *what)
{
    static const char *const others[] = { "", "(outside)", "(starting)", "(unknown)" };
    return what->place == CRITICAL_FUNCTION ? analysis->names[what->function].name : others[what->place];
}

/* Checks the path from `from` to `to` (0: the whole run). Segments are "THREAD:BEGIN-END FUNCTION". Rows are
 * "FUNCTION WORK+RUNNABLE+OUTSIDE". Slack is by thread. */
static void critical_check(struct writer *w, uint64_t from, uint64_t to, const char *segments, const char *rows,
                           const char *slack)
{
    struct analysis analysis;
    struct critical_part part;
    struct error error = { NULL };
    char *text[3];
    size_t length;
    writer_save(w, test_path("path"));
    writer_free(w);
    load_whole(&analysis, test_path("path"), 2);
    struct selection_request request = { .from = { from > 0, NULL, from }, .to = { to > 0, NULL, to } };
    cr_assert(critical_find_part(&analysis, &request, &part, &error));
    struct wait_causes causes = wait_causes_find_wakers(&analysis);
    struct critical_path p = critical_path_find(&analysis, &part, &causes, NULL);
    wait_causes_drop(&causes);
    uint64_t sum = 0;
    FILE *out = need_stream(&text[0], &length);
    for (size_t i = 0; i < p.segment_count; i++)
        fprintf(out, "%s%" PRIu32 ":%" PRIu64 "-%" PRIu64 " %s", i ? ", " : "", p.segments[i].thread,
                p.segments[i].begin, p.segments[i].end, critical_name(&analysis, &p.segments[i].longest));
    need_stream_end(out);
    out = need_stream(&text[1], &length);
    for (size_t i = 0; i < p.row_count; i++) {
        const struct path_times *t = &p.rows[i].times;
        sum += path_times_total(t);
        fprintf(out, "%s%s %" PRIu64 "+%" PRIu64 "+%" PRIu64, i ? ", " : "", critical_name(&analysis, &p.rows[i].what),
                t->work, t->runnable, t->outside);
    }
    need_stream_end(out);
    out = need_stream(&text[2], &length);
    for (size_t i = 0; i < p.thread_count; i++)
        fprintf(out, "%s%" PRIu64, i ? ", " : "", p.threads[i].slack);
    need_stream_end(out);
    cr_assert(eq(str, text[0], (char *)segments));
    cr_assert(eq(str, text[1], (char *)rows));
    cr_assert(eq(str, text[2], (char *)slack));
    cr_assert(eq(u64, sum, part.to - part.from));
    for (size_t i = 0; i < 3; i++)
        free(text[i]);
    critical_path_drop(&p);
    analysis_drop(&analysis);
}

/* The first thread waits in [115, 195]; the other one acts until 180. The 15 ticks between are those of the waking. */
Test(unit_critical, waker)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, CONDITION, 0x5000, 0);
    wakes_thread_ends(w, 1, 300);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    wakes_act(w, 170, 180, CONDITION, 0x5000);
    wakes_thread_ends(w, 2, 250);
    critical_check(w, 0, 0, "2:10-180 work, 1:180-300 main", "work 160+0+0, main 100+0+0, wait 5+15+0, act 10+0+0",
                   "65, 50");
}

/* Before --from, nothing counts; a path that is within a wait there is on the waiting thread. */
Test(unit_critical, parts)
{
    for (int i = 0; i < 2; i++) {
        struct writer *w = wakes_new();
        wakes_thread_begins(w, 1, 10, WAKES_MAIN);
        wakes_call(w, 110, 200, CONDITION, 0x5000, 0);
        wakes_thread_ends(w, 1, 300);
        wakes_thread_begins(w, 2, 10, WAKES_WORK);
        wakes_act(w, 170, 180, CONDITION, 0x5000);
        wakes_thread_ends(w, 2, 250);
        if (i == 0)
            critical_check(w, 150, 220, "2:150-180 work, 1:180-220 main",
                           "main 20+0+0, wait 5+15+0, work 20+0+0, act 10+0+0", "30, 0");
        else
            critical_check(w, 100, 150, "1:100-150 wait", "wait 5+0+35, main 10+0+0", "35, 0");
    }
}

/* The holder of the beginning has passed the lock on to a third thread, which released it last. */
Test(unit_critical, lock_that_was_passed_on)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 10, 100, MUTEX, 0x5000, 101);
    wakes_thread_ends(w, 1, 100);
    wakes_thread_begins(w, 2, 0, WAKES_WORK);
    wakes_act(w, 40, 45, MUTEX, 0x5000);
    wakes_thread_ends(w, 2, 60);
    wakes_thread_begins(w, 3, 0, WAKES_WORK);
    wakes_call(w, 20, 55, MUTEX, 0x5000, 101);
    wakes_act(w, 90, 95, MUTEX, 0x5000);
    wakes_thread_ends(w, 3, 96);
    critical_check(w, 0, 0, "2:0-45 work, 3:45-95 work, 1:95-100 wait", "work 75+0+0, wait 10+5+0, act 10+0+0",
                   "80, 40, 24");
}

/* No release was recorded: the lock was held until the wait ended. */
Test(unit_critical, holder_without_a_release)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 10, 60, MUTEX, 0x5000, 101);
    wakes_thread_ends(w, 1, 100);
    wakes_thread_begins(w, 2, 0, WAKES_WORK);
    wakes_thread_ends(w, 2, 90);
    critical_check(w, 0, 0, "2:0-55 work, 1:55-100 main", "work 55+0+0, main 40+0+0, wait 5+0+0", "40, 10");
}

/* The release may be among the lost events, and another thread may have held the lock after it. */
Test(unit_critical, holder_with_lost_events)
{
    enum { LOST_EVENTS = 120 };
    struct writer *w = wakes_new();
    write_header(w, LOST_EVENTS, 1, 8);
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 10, 60, MUTEX, 0x5000, 101);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 0, WAKES_WORK);
    wakes_thread_ends(w, 2, 90);
    critical_check(w, 0, 0, "1:0-120 main", "main 70+0+0, wait 10+0+40", "0, 30");
}

/* Sleeps, and waits for what is not recorded, stay on their thread. A thread that is to run is not waiting. */
Test(unit_critical, waits_without_a_cause)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 10, 60, OBJECT_SLEEP, 40, 0);
    wakes_call(w, 60, 90, 0, 0, 0);
    write_off_cpu(w, true, 95, 25);
    wakes_thread_ends(w, 1, 200);
    critical_check(w, 0, 0, "1:0-200 main", "main 95+25+0, wait 20+0+60", "0");
}

/* A thread that is waited for: its maker's call is the path before it. */
Test(unit_critical, made_and_joined_thread)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_act(w, 20, 30, JOIN, 101);
    wakes_call(w, 40, 100, JOIN, 101, 0);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 35, WAKES_WORK);
    wakes_thread_ends(w, 2, 90);
    critical_check(w, 0, 0, "1:0-30 main, 2:30-90 work, 1:90-120 main",
                   "work 55+0+0, main 40+0+0, act 10+0+0, wait 5+5+0, (starting) 0+5+0", "45, 30");
}

/* Without the record of its creation, the only other thread must have made it. */
Test(unit_critical, maker_that_was_alone)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 40, 100, JOIN, 101, 0);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 35, WAKES_WORK);
    wakes_thread_ends(w, 2, 90);
    critical_check(w, 0, 0, "1:0-35 main, 2:35-90 work, 1:90-120 main", "main 55+0+0, work 55+0+0, wait 5+5+0",
                   "45, 30");
}

/* One of several may have made it: what was before is unknown. */
Test(unit_critical, unknown_maker)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 40, 100, JOIN, 101, 0);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 35, WAKES_WORK);
    wakes_thread_ends(w, 2, 90);
    wakes_thread_begins(w, 3, 0, WAKES_WORK);
    wakes_thread_ends(w, 3, 120);
    critical_check(w, 0, 0, "2:0-90 work, 1:90-120 main", "work 55+0+0, (unknown) 0+0+35, main 20+0+0, wait 5+5+0",
                   "45, 0, 30");
}

/* The last one to arrive goes on. The other one is at the barrier again before the waiting thread runs. */
Test(unit_critical, barrier)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 10, 100, BARRIER, 0x5000, 0);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 0, WAKES_WORK);
    write_enter(w, 70, WAKES_WAIT);
    write_os(w);
    write_object(w, BARRIER, false, 0x5000, 0);
    write_exit(w, 75);
    wakes_call(w, 80, 110, BARRIER, 0x5000, 0);
    wakes_thread_ends(w, 2, 115);
    critical_check(w, 0, 0, "2:0-75 work, 1:75-120 wait", "work 70+0+0, wait 10+20+0, main 20+0+0", "60, 5");
}

/* The signal wakes a thread that then needs the mutex, which the other thread still holds. */
Test(unit_critical, signal_under_the_mutex)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    write_enter(w, 10, WAKES_WAIT);
    write_off_cpu(w, false, 15, 30);
    write_off_cpu(w, false, 50, 40);
    write_object(w, CONDITION, false, 0x5000, 0);
    write_object(w, MUTEX, true, 0x6000, 0);
    write_exit(w, 95);
    wakes_thread_ends(w, 1, 100);
    wakes_thread_begins(w, 2, 0, WAKES_WORK);
    wakes_act(w, 30, 40, CONDITION, 0x5000);
    wakes_act(w, 80, 85, MUTEX, 0x6000);
    wakes_thread_ends(w, 2, 100);
    critical_check(w, 0, 0, "2:0-85 work, 1:85-100 wait", "work 70+0+0, act 15+0+0, wait 5+5+0, main 5+0+0", "70, 0");
}

/* Two threads whose acts and waits have the same times: the walk ends. */
Test(unit_critical, waits_that_seem_to_end_each_other)
{
    struct writer *w = wakes_new();
    for (uint32_t i = 1; i <= 2; i++) {
        wakes_thread_begins(w, i, 0, WAKES_MAIN);
        write_enter(w, 10, WAKES_WAIT);
        write_off_cpu(w, false, 20, 30);
        write_object(w, BARRIER, false, 0x5000, 0);
        write_exit(w, 50);
        wakes_thread_ends(w, i, 60);
    }
    critical_check(w, 0, 0, "1:0-60 wait", "wait 10+0+30, main 20+0+0", "0, 0");
}

/* A child that the second of two threads has made by fork at 30, or that an unknown one has made. */
static struct writer *critical_child(uint32_t maker)
{
    const struct {
        uint32_t serial, tid, source, maker;
        uint64_t start;
        uint16_t length;
        char name[6];
    } thread = { 3, 200, SOURCE_PERF, maker, 35, 1, "c" };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 40, 100, OBJECT_CHILD, 200, 0);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 5, WAKES_WORK);
    wakes_thread_ends(w, 2, 110);
    write_process_of(w, 2, 200, 100, 1, 30, "/bin/p");
    write_module(w, 2, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_record(w, 2, 3, &thread, sizeof thread);
    begin_events(w, 2, 3, 0, 35, NULL, 0);
    write_enter(w, 35, WAKES_WORK);
    write_exit(w, 90);
    end_events(w, true);
    write_thread_end(w, 2, 3, false, 90);
    return w;
}

Test(unit_critical, fork_by_one_of_several_threads)
{
    critical_check(critical_child(2), 0, 0, "1:0-5 main, 2:5-30 work, 3:30-90 work, 1:90-120 main",
                   "work 80+0+0, main 25+0+0, wait 5+5+0, (starting) 0+5+0", "45, 10, 30");
    critical_check(critical_child(0), 0, 0, "3:0-90 work, 1:90-120 main",
                   "work 55+0+0, (unknown) 0+0+35, main 20+0+0, wait 5+5+0", "45, 10, 30");
    critical_check(critical_child(3), 0, 0, "3:0-90 work, 1:90-120 main",
                   "work 55+0+0, (unknown) 0+0+35, main 20+0+0, wait 5+5+0", "45, 10, 30");
}

/* A killed thread has no known end: it did not end the wait. */
Test(unit_critical, joined_thread_without_an_end)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 40, 100, JOIN, 101, 0);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 35, WAKES_WORK);
    end_events(w, true);
    critical_check(w, 0, 0, "1:0-120 main", "main 60+0+0, wait 10+0+50", "0, 0");
}

/* Pauses and lost chunks are in no function. */
Test(unit_critical, times_that_were_not_recorded)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    write_pause(w, 20);
    write_resume(w, 50, 0);
    wakes_thread_ends(w, 1, 100);
    critical_check(w, 0, 0, "1:0-100 main", "main 70+0+0, (unknown) 0+0+30", "0");
}

/* Of two calls, the longer one. */
Test(unit_critical, slowest_call)
{
    struct analysis analysis;
    struct critical_part whole, part;
    struct error error = { NULL };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    write_enter(w, 10, WAKES_WORK);
    write_exit(w, 20);
    write_enter(w, 30, WAKES_WORK);
    write_exit(w, 50);
    wakes_thread_ends(w, 1, 100);
    writer_save(w, test_path("path"));
    writer_free(w);
    load_whole(&analysis, test_path("path"), 2);
    struct selection_request request = { .from = { false, NULL, 0 } };
    cr_assert(critical_find_part(&analysis, &request, &whole, &error));
    uint32_t work = 0;
    while (analysis.names[work].name[0] != 'w')
        work++;
    cr_assert(critical_find_slowest(&analysis, work, &whole, &part, &error));
    cr_assert(eq(u64, part.from, 30));
    cr_assert(eq(u64, part.to, 50));
    whole.to = 40;
    cr_assert(critical_find_slowest(&analysis, work, &whole, &part, &error));
    cr_assert(eq(u64, part.from, 10));
    whole.from = 15;
    cr_assert(not(critical_find_slowest(&analysis, work, &whole, &part, &error)));
    error_drop(&error);
    analysis_drop(&analysis);
}
