/* Records of an imported report's values, written by hand. They take precedence over the tree, and impossible ones are
 * left out. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile/edges.h"
#include "support/load.h"
#include "support/scenario.h"
#include "tables/views.h"

TestSuite(unit_reported, .timeout = 300);

enum { F = 0x1000, G = 0x2000, REPORTED = 20, FUNCTION = 1, CALLER = 2, CALLEE = 3 };

struct values {
    uint64_t elapsed_inclusive, elapsed_exclusive, application_inclusive, application_exclusive, calls, shortest,
        longest;
};

/* Writes the record as docs/format.md describes it: 80 bytes after type and size. */
static void write_reported(struct writer *w, uint32_t kind, uint64_t function, uint64_t other, struct values v)
{
    uint8_t content[80] = { 0 };
    memcpy(content, &kind, 4);
    memcpy(content + 8, &function, 8);
    memcpy(content + 16, &other, 8);
    memcpy(content + 24, &v, sizeof v);
    write_record(w, 1, REPORTED, content, sizeof content);
}

/* f calls g with 100 and 40 of it; the report says otherwise. */
static struct writer *reported_session(void)
{
    struct writer *w = writer_new();
    write_header(w, 148, 1 | 2, 4);
    write_process(w, 1, 7, "/bin/p");
    write_thread(w, 1, 1, 7, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    write_enter(w, 10, G);
    write_exit(w, 50);
    write_exit(w, 100);
    end_events(w, true);
    return w;
}

static struct analysis reported_load(struct writer *w)
{
    struct analysis analysis;
    writer_save(w, test_path("reported.dwell"));
    writer_free(w);
    load_whole(&analysis, test_path("reported.dwell"), 1);
    return analysis;
}

static uint32_t reported_number_of(const struct analysis *analysis, uint64_t address)
{
    for (uint32_t i = 0; i < analysis->profile->function_count; i++)
        if (analysis->profile->functions[i].offset == address)
            return i;
    cr_fatal("no function");
}

static struct times reported_times_of(const struct analysis *analysis, uint64_t address)
{
    struct times *all = rollup_groups(analysis->rollup, BY_FUNCTION),
                 times = all[reported_number_of(analysis, address)];
    free(all);
    return times;
}

Test(unit_reported, functions_as_reported)
{
    struct writer *w = reported_session();
    write_reported(w, FUNCTION, G, 0, (struct values){ 45, 44, 43, 42, 3, 10, 20 });
    struct analysis analysis = reported_load(w);
    ASSERT_TIMES(reported_times_of(&analysis, F), 100, 60, 100, 60, 1);
    ASSERT_TIMES(reported_times_of(&analysis, G), 45, 44, 43, 42, 3);
    cr_assert(eq(u64, reported_times_of(&analysis, G).shortest, 10));
    cr_assert(eq(u64, reported_times_of(&analysis, G).longest, 20));
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 100)); /* the tree's */
    cr_assert(analysis.summary.imported && !analysis.summary.samples);
    cr_assert(eq(sz, analysis.summary.remark_count, 1));
    /* Without reported callers and callees, those of the tree are used. */
    struct neighbours n = rollup_neighbours(analysis.rollup, reported_number_of(&analysis, G));
    cr_assert(eq(sz, n.caller_count, 1));
    cr_assert(eq(u64, n.callers[0].times.elapsed_inclusive, 40));
    neighbours_free(&n);
    analysis_drop(&analysis);
}

Test(unit_reported, callers_and_callees_as_reported)
{
    struct writer *w = reported_session();
    write_reported(w, CALLER, G, F, (struct values){ 30, 29, 28, 27, 2, UINT64_MAX, 0 });
    write_reported(w, CALLER, G, 0, (struct values){ 10, 10, 10, 10, 1, UINT64_MAX, 0 });
    write_reported(w, CALLEE, F, G, (struct values){ 31, 29, 28, 27, 2, UINT64_MAX, 0 });
    struct analysis analysis = reported_load(w);
    struct neighbours n = rollup_neighbours(analysis.rollup, reported_number_of(&analysis, G));
    cr_assert(eq(sz, n.caller_count, 2));
    cr_assert(eq(sz, n.callee_count, 0));
    cr_assert(eq(u64, n.callers[0].times.elapsed_inclusive, 30));
    cr_assert(eq(u32, n.callers[1].function, PROFILE_NONE));
    cr_assert(eq(u64, n.callers[1].times.elapsed_inclusive, 10));
    neighbours_free(&n);
    n = rollup_neighbours(analysis.rollup, reported_number_of(&analysis, F));
    cr_assert(eq(sz, n.callee_count, 1));
    cr_assert(eq(u64, n.callees[0].times.elapsed_inclusive, 31));
    neighbours_free(&n);
    struct edges e = edges_of_process(analysis.rollup, 1);
    cr_assert(eq(sz, e.count, 2));
    edges_free(&e);
    analysis_drop(&analysis);
}

/* A module's values belong to the module that contains the address, and to its process. */
Test(unit_reported, modules_as_reported)
{
    struct writer *w = reported_session();
    write_module(w, 1, 1, 0, 0x1000, 0x1800, 0, "/bin/p");
    write_reported(w, 4, F, 0, (struct values){ 90, 80, 70, 60, 5, UINT64_MAX, 0 });
    struct analysis analysis = reported_load(w);
    struct times *all = rollup_groups(analysis.rollup, BY_MODULE);
    for (size_t i = 0; i < analysis.profile->module_count; i++) {
        if (analysis.profile->modules[i].path[0])
            ASSERT_TIMES(all[i], 90, 80, 70, 60, 5);
        else
            ASSERT_TIMES(all[i], 40, 40, 40, 40, 1);
    }
    free(all);
    cr_assert(eq(sz, analysis.profile->function_count, 2));
    analysis_drop(&analysis);
}

Test(unit_reported, impossible_values_are_left_out)
{
    const struct values good = { 45, 44, 43, 42, 3, 10, 20 };
    struct writer *w = reported_session();
    write_reported(w, 0, G, 0, good);
    write_reported(w, 5, G, 0, good);
    write_reported(w, FUNCTION, 0, 0, good);
    write_reported(w, CALLEE, F, 0, good);
    write_reported(w, FUNCTION, G, 0, (struct values){ 45, 44, 46, 42, 3, 10, 20 });
    write_reported(w, FUNCTION, G, 0, (struct values){ 45, 44, 43, 45, 3, 10, 20 });
    write_reported(w, FUNCTION, G, 0, (struct values){ UINT64_MAX, 44, 43, 42, 3, 10, 20 });
    write_reported(w, FUNCTION, G, 0, (struct values){ 45, 44, 43, 42, UINT64_MAX, 10, 20 });
    write_record(w, 1, REPORTED, "short", 5);
    struct analysis analysis = reported_load(w);
    cr_assert(eq(u64, analysis.file->health.damaged_records, 9));
    cr_assert(eq(sz, analysis.file->sums.reported_count, 0));
    ASSERT_TIMES(reported_times_of(&analysis, G), 40, 40, 40, 40, 1);
    analysis_drop(&analysis);
}

/* A recording has no origin, and none is reported. */
Test(unit_reported, samples_and_recordings)
{
    struct writer *w = reported_session();
    write_header(w, 148, 1 | 4, 4);
    struct analysis analysis = reported_load(w);
    cr_assert(analysis.summary.samples && analysis.summary.imported);
    cr_assert(eq(sz, analysis.summary.remark_count, 0));
    analysis_drop(&analysis);
    w = reported_session();
    write_header(w, 148, 0, 4);
    analysis = reported_load(w);
    cr_assert(not(analysis.summary.samples || analysis.summary.imported));
    analysis_drop(&analysis);
}
