/* What a hand-written run would take if its functions were faster, to the tick. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "causes/what_if.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/wakes.h"

struct predicted {
    const char *function;
    double factor;
    uint64_t ticks;
};

static void what_if_check(struct writer *w, uint64_t recorded, const struct predicted *wanted, size_t count)
{
    struct analysis analysis;
    struct critical_part part;
    struct error error = { NULL };
    struct selection_request request = { .from = { false, NULL, 0 } };
    writer_save(w, test_path("run"));
    writer_free(w);
    load_whole(&analysis, test_path("run"), 2);
    cr_assert(critical_find_part(&analysis, &request, &part, &error));
    struct wait_causes causes = wait_causes_find_wakers(&analysis);
    struct what_if *what = what_if_new(&analysis, &part, &causes, NULL);
    cr_assert(eq(u64, what_if_predict(what, NULL, 0), recorded));
    for (size_t i = 0; i < count; i++) {
        uint32_t function = 0;
        while (strcmp(analysis.names[function].name, wanted[i].function) != 0)
            function++;
        const struct what_if_scale scale = { function, wanted[i].factor };
        cr_assert(eq(u64, what_if_predict(what, &scale, 1), wanted[i].ticks), "%s=%f", wanted[i].function,
                  wanted[i].factor);
    }
    cr_assert(eq(u64, what_if_predict(what, NULL, 0), recorded));
    what_if_free(what);
    analysis_drop(&analysis);
}

/* The first thread waits in [115, 195] for the act at 180. If that comes before the wait, there is none. */
Test(unit_what_if, wait_that_ends_earlier)
{
    static const struct predicted wanted[] = {
        { "work", 1, 290 }, { "work", 0.9, 274 }, { "work", 0.5, 210 }, { "work", 2, 450 },
        { "main", 0, 190 }, { "main", 2, 410 },   { "act", 0, 280 },
    };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, OBJECT_CONDITION, 0x5000, 0);
    wakes_thread_ends(w, 1, 300);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    wakes_act(w, 170, 180, OBJECT_CONDITION, 0x5000);
    wakes_thread_ends(w, 2, 250);
    what_if_check(w, 290, wanted, sizeof wanted / sizeof *wanted);
}

/* A thread begins after the call that makes it, wherever that is. */
Test(unit_what_if, thread_that_begins_earlier)
{
    static const struct predicted wanted[] = { { "work", 0.5, 92 }, { "main", 0, 80 }, { "act", 0, 110 } };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_act(w, 20, 30, OBJECT_THREAD, 101);
    wakes_call(w, 40, 100, OBJECT_THREAD, 101, 0);
    wakes_thread_ends(w, 1, 120);
    wakes_thread_begins(w, 2, 35, WAKES_WORK);
    wakes_thread_ends(w, 2, 90);
    what_if_check(w, 120, wanted, sizeof wanted / sizeof *wanted);
}

/* Sleeps keep their length. A function's preempted time is scaled with its work. */
Test(unit_what_if, sleeps_and_preemption)
{
    static const struct predicted wanted[] = { { "main", 0.5, 125 }, { "wait", 0, 190 } };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 10, 60, OBJECT_SLEEP, 40, 0);
    write_off_cpu(w, true, 95, 25);
    wakes_thread_ends(w, 1, 200);
    what_if_check(w, 200, wanted, sizeof wanted / sizeof *wanted);
}

/* The ranking has the functions by what half of each would bring. */
Test(unit_what_if, ranking)
{
    struct analysis analysis;
    struct critical_part part;
    struct error error = { NULL };
    struct selection_request request = { .from = { false, NULL, 0 } };
    struct writer *w = wakes_new();
    size_t count;
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    write_enter(w, 10, WAKES_WORK);
    write_exit(w, 90);
    wakes_thread_ends(w, 1, 100);
    writer_save(w, test_path("run"));
    writer_free(w);
    load_whole(&analysis, test_path("run"), 1);
    cr_assert(critical_find_part(&analysis, &request, &part, &error));
    struct wait_causes causes = wait_causes_find_wakers(&analysis);
    struct what_if *what = what_if_new(&analysis, &part, &causes, NULL);
    struct what_if_rank *ranks = what_if_rank_functions(what, 10, false, &count);
    cr_assert(eq(sz, count, 2));
    cr_assert(eq(str, analysis.names[ranks[0].function].name, "work"));
    cr_assert(eq(u64, ranks[0].time, 80));
    cr_assert(eq(u64, ranks[0].predicted[0], 92));
    cr_assert(eq(u64, ranks[0].predicted[1], 60));
    cr_assert(eq(u64, ranks[0].predicted[2], 20));
    cr_assert(eq(u64, ranks[1].predicted[2], 80));
    free(ranks);
    what_if_free(what);
    analysis_drop(&analysis);
}

/* ---- waits without a known cause ---- */

struct limited {
    const char *function;
    double factor;
    struct what_if_range range;
};

static void what_if_check_limits(struct writer *w, uint64_t unknown, const struct limited *wanted, size_t count)
{
    struct analysis analysis;
    struct critical_part part;
    struct error error = { NULL };
    struct selection_request request = { .from = { false, NULL, 0 } };
    writer_save(w, test_path("run"));
    writer_free(w);
    load_whole(&analysis, test_path("run"), 2);
    cr_assert(critical_find_part(&analysis, &request, &part, &error));
    struct wait_causes causes = wait_causes_find_wakers(&analysis);
    struct what_if *what = what_if_new(&analysis, &part, &causes, NULL);
    cr_assert(eq(u64, what_if_unknown(what), unknown));
    for (size_t i = 0; i < count; i++) {
        uint32_t function = 0;
        while (strcmp(analysis.names[function].name, wanted[i].function) != 0)
            function++;
        const struct what_if_range range =
            what_if_limit(what, &(struct what_if_scale){ function, wanted[i].factor }, 1);
        cr_assert(eq(u64, range.least, wanted[i].range.least), "%s=%f", wanted[i].function, wanted[i].factor);
        cr_assert(eq(u64, range.most, wanted[i].range.most), "%s=%f", wanted[i].function, wanted[i].factor);
    }
    what_if_free(what);
    analysis_drop(&analysis);
}

/* The first thread works in [0, 100] and [400, 500], and is blocked in [105, 395]. The other one works in [10, 390]. If
 * the wait is for it, the run becomes shorter by what it saves. If it ends at a time, work before it saves nothing. */
Test(unit_what_if, waits_without_a_known_cause)
{
    static const struct limited wanted[] = {
        { "work", 1, { 500, 500 } }, { "work", 0.5, { 310, 500 } }, { "work", 0, { 210, 500 } },
        { "work", 2, { 500, 880 } }, { "main", 0.5, { 400, 450 } }, { "main", 2, { 600, 700 } },
    };
    static const unsigned kinds[] = { 0, OBJECT_PIPE, OBJECT_CONDITION, OBJECT_SET };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct writer *w = wakes_new();
        wakes_thread_begins(w, 1, 0, WAKES_MAIN);
        wakes_call(w, 100, 400, kinds[i], kinds[i] == OBJECT_SET ? 0 : 0x5000, 0);
        wakes_thread_ends(w, 1, 500);
        wakes_thread_begins(w, 2, 10, WAKES_WORK);
        wakes_thread_ends(w, 2, 390);
        what_if_check_limits(w, 290, wanted, sizeof wanted / sizeof *wanted);
    }
}

/* Time, and what no program does, end these. */
Test(unit_what_if, waits_that_depend_on_no_function)
{
    static const struct limited wanted[] = { { "work", 0.5, { 500, 500 } }, { "main", 0.5, { 400, 400 } } };
    static const unsigned kinds[] = { OBJECT_SLEEP, OBJECT_FILE };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct writer *w = wakes_new();
        wakes_thread_begins(w, 1, 0, WAKES_MAIN);
        wakes_call(w, 100, 400, kinds[i], 0x5000, 0);
        wakes_thread_ends(w, 1, 500);
        wakes_thread_begins(w, 2, 10, WAKES_WORK);
        wakes_thread_ends(w, 2, 390);
        what_if_check_limits(w, 0, wanted, sizeof wanted / sizeof *wanted);
    }
}

/* Only waits on the path count: the first thread waits for the other one at the end. */
Test(unit_what_if, unknown_waits_beside_the_path)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 100, 200, 0, 0, 0);
    wakes_call(w, 300, 410, OBJECT_THREAD, 101, 0);
    wakes_thread_ends(w, 1, 500);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    wakes_call(w, 50, 70, 0, 0, 0);
    wakes_thread_ends(w, 2, 400);
    what_if_check_limits(w, 10, NULL, 0);
}

/* Giving up the processor again and again is waiting, too. */
Test(unit_what_if, yields)
{
    static const struct limited wanted[] = { { "work", 0.5, { 310, 500 } } };
    struct writer *w = wakes_new();
    write_symbol(w, 1, 0, 0, 0x1200, "sched_yield");
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    for (uint64_t time = 100; time < 400; time += 100) {
        write_enter(w, time, WAKES_YIELD);
        write_os(w);
        write_exit(w, time + 100);
    }
    wakes_thread_ends(w, 1, 500);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    wakes_thread_ends(w, 2, 390);
    what_if_check_limits(w, 300, wanted, 1);
}

/* A function's own code was blocked: nobody knows for what. */
Test(unit_what_if, blocked_in_its_own_code)
{
    struct analysis analysis;
    struct critical_part part;
    struct error error = { NULL };
    struct selection_request request = { .from = { false, NULL, 0 } };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    write_enter(w, 10, WAKES_WORK);
    write_off_cpu(w, false, 20, 30);
    write_exit(w, 90);
    wakes_thread_ends(w, 1, 100);
    writer_save(w, test_path("run"));
    writer_free(w);
    load_whole(&analysis, test_path("run"), 1);
    cr_assert(critical_find_part(&analysis, &request, &part, &error));
    struct wait_causes causes = wait_causes_find_wakers(&analysis);
    struct what_if *what = what_if_new(&analysis, &part, &causes, NULL);
    for (uint32_t i = 0; i < analysis.profile->function_count; i++)
        cr_assert(eq(u64, what_if_blocked(what, i), strcmp(analysis.names[i].name, "work") == 0 ? 30 : 0));
    what_if_free(what);
    analysis_drop(&analysis);
}

/* ---- processors ---- */

static void what_if_check_cpus(struct writer *w, const uint64_t (*wanted)[2], size_t count)
{
    struct analysis analysis;
    struct critical_part part;
    struct error error = { NULL };
    struct selection_request request = { .from = { false, NULL, 0 } };
    writer_save(w, test_path("run"));
    writer_free(w);
    load_whole(&analysis, test_path("run"), 1);
    cr_assert(critical_find_part(&analysis, &request, &part, &error));
    struct wait_causes causes = wait_causes_find_wakers(&analysis);
    struct what_if *what = what_if_new(&analysis, &part, &causes, NULL);
    for (size_t i = 0; i < count; i++) {
        what_if_set_cpus(what, (unsigned)wanted[i][0]);
        cr_assert(eq(u64, what_if_predict(what, NULL, 0), wanted[i][1]), "%u processors", (unsigned)wanted[i][0]);
    }
    what_if_free(what);
    analysis_drop(&analysis);
}

/* The first thread works for 75 ticks, and 25 more after it has joined the other. That one begins 5 ticks after the act
 * at 10, and works for 90. On one processor, it begins to work when the first one waits. A wait ends 5 ticks late. */
Test(unit_what_if, processors)
{
    static const uint64_t wanted[][2] = { { 1, 195 }, { 2, 135 }, { 3, 135 } };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_act(w, 5, 10, OBJECT_THREAD, 101);
    wakes_call(w, 70, 180, OBJECT_THREAD, 101, 0);
    wakes_thread_ends(w, 1, 200);
    wakes_thread_begins(w, 2, 20, WAKES_WORK);
    write_off_cpu(w, true, 50, 60);
    wakes_thread_ends(w, 2, 170);
    what_if_check_cpus(w, wanted, sizeof wanted / sizeof *wanted);
}

/* A sleep needs no processor: other threads work meanwhile. */
Test(unit_what_if, processors_and_sleeps)
{
    static const uint64_t wanted[][2] = { { 1, 200 }, { 2, 200 } };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 50, 150, OBJECT_SLEEP, 40, 0);
    wakes_thread_ends(w, 1, 200);
    what_if_check_cpus(w, wanted, sizeof wanted / sizeof *wanted);
}
