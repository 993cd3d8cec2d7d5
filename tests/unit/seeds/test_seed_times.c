/*
 * "Understanding instrumentation data values", sentence by sentence, on hand-written sessions. Each test is named after
 * a sentence of the page and begins with what it says.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/exported.h"
#include "support/load.h"
#include "support/rows.h"

TestSuite(unit_seed_times, .timeout = 300);

enum { TARGET = 0x1000, CHILD = 0x2000, OTHER = 0x6000 };

/*
 * Intervals of the thread, with the function that executes, and * where the operating system intervened:
 *
 *     0    100    200     500    600      1000
 *     | main | f   | g *   | f    | main * |
 *
 * main is in the module a, f in a, g in b. Another process runs `other` from 0 to 500, without the operating system.
 */
static struct analysis seed_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/a");
    write_thread(w, 1, 1, 101, SOURCE_PERF, "one");
    write_module(w, 1, 1, 0, 0x1000, 0x2000, 0, "/bin/a");
    write_module(w, 1, 2, 0x1000, 0x2000, 0x3000, 0, "/lib/b");
    write_process(w, 2, 200, "/bin/c");
    write_thread(w, 2, 2, 201, SOURCE_PERF, "two");
    write_module(w, 2, 1, 0x5000, 0x6000, 0x7000, 0, "/bin/c");
    write_symbol_module(w, 1, "/bin/a");
    write_symbol(w, 1, 0, 0, TARGET, "main");
    write_symbol(w, 1, 0, 0, TARGET + 0x100, "f");
    write_symbol_module(w, 2, "/lib/b");
    write_symbol(w, 2, 0, 0, 0x1000, "g");
    write_symbol_module(w, 3, "/bin/c");
    write_symbol(w, 3, 0, 0, 0x1000, "other");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, TARGET);
    write_enter(w, 100, TARGET + 0x100);
    write_enter(w, 200, CHILD);
    write_off_cpu(w, false, 250, 50);
    write_exit(w, 500);
    write_exit(w, 600);
    write_os(w);
    write_exit(w, 1000);
    end_events(w, true);
    begin_events(w, 2, 2, 0, 0, NULL, 0);
    write_enter(w, 0, OTHER);
    write_exit(w, 500);
    end_events(w, true);
    return loaded_of(w);
}

/* The four times of a function, module, thread or process. */
static void expect_times(enum rollup_by by, const char *name, uint64_t elapsed_inclusive, uint64_t elapsed_exclusive,
                         uint64_t application_inclusive, uint64_t application_exclusive)
{
    struct analysis analysis = seed_session();
    struct table t = view_rows(&analysis, by, &(struct sorting){ .key = "name" });
    static const char *const keys[] = { "elapsed_inclusive", "elapsed_exclusive", "application_inclusive",
                                        "application_exclusive" };
    const uint64_t wanted[] = { elapsed_inclusive, elapsed_exclusive, application_inclusive, application_exclusive };
    size_t found = 0;
    for (size_t row = 0; row < t.row_count; row++) {
        const struct cell *cells = &t.cells[row * t.column_count];
        bool named = false;
        for (size_t c = 0; c < t.column_count; c++)
            named |= column_is_text(&t.columns[c]) && cells[c].known && strcmp(cells[c].text, name) == 0;
        for (size_t c = 0; c < t.column_count && named; c++)
            for (size_t k = 0; k < 4; k++)
                if (strcmp(t.columns[c].key, keys[k]) == 0) {
                    cr_assert(eq(u64, cells[c].number, wanted[k]), "%s of %s", keys[k], name);
                    found++;
                }
    }
    cr_assert(eq(sz, found, 4), "%s", name);
    table_drop(&t);
    analysis_drop(&analysis);
}

static double percent_in_row(const char *name, const char *key, enum rollup_by by)
{
    struct analysis analysis = seed_session();
    struct table t = view_rows(&analysis, by, &(struct sorting){ .key = "name" });
    double percent = -1;
    for (size_t row = 0; row < t.row_count; row++) {
        const struct cell *cells = &t.cells[row * t.column_count];
        bool named = false;
        for (size_t c = 0; c < t.column_count; c++)
            named |= column_is_text(&t.columns[c]) && cells[c].known && strcmp(cells[c].text, name) == 0;
        for (size_t c = 0; c < t.column_count && named; c++)
            if (strcmp(t.columns[c].key, key) == 0)
                percent = cells[c].percent;
    }
    table_drop(&t);
    analysis_drop(&analysis);
    return percent;
}

/* Every interval of a function is added to its elapsed inclusive time. */
Test(unit_seed_times, every_interval_of_a_function_is_added_to_elapsed_inclusive)
{
    expect_times(BY_FUNCTION, "main", 1000, 500, 300, 100);
}

/* An interval in the function's own code, not in a child, is added to its elapsed exclusive time. */
Test(unit_seed_times, an_interval_in_the_functions_code_is_added_to_elapsed_exclusive)
{
    expect_times(BY_FUNCTION, "f", 500, 200, 200, 200);
}

/* An interval without an event of the operating system is added to the application inclusive time. */
Test(unit_seed_times, an_interval_without_an_os_event_is_added_to_application_inclusive)
{
    expect_times(BY_FUNCTION, "other", 500, 500, 500, 500);
}

/* An interval with such an event is in neither application time: all of it is left out. */
Test(unit_seed_times, an_interval_with_an_os_event_is_in_no_application_time)
{
    expect_times(BY_FUNCTION, "g", 300, 300, 0, 0);
}

/* Reports add up the values for the session, its processes, threads and binaries. */
Test(unit_seed_times, values_are_added_up_for_the_session_its_processes_threads_and_binaries)
{
    expect_times(BY_PROCESS, "a", 1000, 1000, 300, 300);
    expect_times(BY_PROCESS, "c", 500, 500, 500, 500);
    expect_times(BY_THREAD, "one", 1000, 1000, 300, 300);
    expect_times(BY_MODULE, "a", 1000, 700, 300, 300);
    expect_times(BY_MODULE, "b", 300, 300, 0, 0);
    struct analysis analysis = seed_session();
    cr_assert(eq(u64, analysis.rollup->session.elapsed_inclusive, 1500));
    cr_assert(eq(u64, analysis.rollup->session.application_inclusive, 800));
    analysis_drop(&analysis);
}

/* Elapsed inclusive: the total time to run a function and its children, with its waits for the operating system. */
Test(unit_seed_times, elapsed_inclusive_includes_children_and_waits)
{
    expect_times(BY_FUNCTION, "f", 500, 200, 200, 200); /* 300 of them are g's, which waits */
}

/* Elapsed exclusive: the time to run a function without its children, whether or not the system intervened. */
Test(unit_seed_times, elapsed_exclusive_is_without_children_and_with_os_events)
{
    expect_times(BY_FUNCTION, "main", 1000, 500, 300, 100); /* 400 of them flagged */
}

/* Application inclusive: the time of a function and its children without intervals that contain system events. */
Test(unit_seed_times, application_inclusive_is_without_intervals_that_contain_os_events)
{
    expect_times(BY_FUNCTION, "main", 1000, 500, 300, 100);
}

/* Application exclusive: neither such intervals nor those of children. */
Test(unit_seed_times, application_exclusive_is_without_children_and_os_events)
{
    expect_times(BY_FUNCTION, "main", 1000, 500, 300, 100);
}

static void expect_percent(const char *name, const char *key, enum rollup_by by, double part, double whole)
{
    const double percent = percent_in_row(name, key, by), wanted = 100 * part / whole;
    cr_assert(percent > wanted - 1e-9 && percent < wanted + 1e-9, "%s of %s: %f", key, name, percent);
}

/* 100 * elapsed inclusive of the function / elapsed inclusive of the session; of modules, threads and processes, too.
 */
Test(unit_seed_times, elapsed_inclusive_percent)
{
    expect_percent("f", "elapsed_inclusive_percent", BY_FUNCTION, 500, 1500);
    expect_percent("b", "elapsed_inclusive_percent", BY_MODULE, 300, 1500);
    expect_percent("one", "elapsed_inclusive_percent", BY_THREAD, 1000, 1500);
    expect_percent("c", "elapsed_inclusive_percent", BY_PROCESS, 500, 1500);
}

/* 100 * elapsed exclusive of the function / elapsed inclusive of the session. */
Test(unit_seed_times, elapsed_exclusive_percent)
{
    expect_percent("f", "elapsed_exclusive_percent", BY_FUNCTION, 200, 1500);
    expect_percent("a", "elapsed_exclusive_percent", BY_MODULE, 700, 1500);
}

/* 100 * application inclusive of the function / application inclusive of the session. */
Test(unit_seed_times, application_inclusive_percent)
{
    expect_percent("f", "application_inclusive_percent", BY_FUNCTION, 200, 800);
    expect_percent("one", "application_inclusive_percent", BY_THREAD, 300, 800);
}

/* 100 * application exclusive of the function / application inclusive of the session. */
Test(unit_seed_times, application_exclusive_percent)
{
    expect_percent("main", "application_exclusive_percent", BY_FUNCTION, 100, 800);
    expect_percent("c", "application_exclusive_percent", BY_PROCESS, 500, 800);
}
