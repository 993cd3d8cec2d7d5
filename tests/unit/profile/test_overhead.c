/* Probe overhead, subtracted from a profile by given costs: exact ticks, and the identities with and without it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "dwell/format.h"
#include "profile/overhead.h"
#include "support/scenario.h"

enum { F = 0x1000, G = 0x2000, H = 0x3000, TICK = DWELL_PROBE_FRACTION };

static struct writer *overhead_begin(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    return w;
}

/* F from 0 to 1000. It calls G three times for 100 each, and the last G calls H for 10. */
static struct outcome overhead_nested(void)
{
    struct writer *w = overhead_begin();
    write_enter(w, 0, F);
    for (uint64_t at = 100; at < 700; at += 200) {
        write_enter(w, at, G);
        if (at == 500) {
            write_enter(w, 550, H);
            write_exit(w, 560);
        }
        write_exit(w, at + 100);
    }
    write_exit(w, 1000);
    return outcome_of(w, 1);
}

static struct overhead overhead_subtract_costs(struct outcome *o, struct probe_cost cost)
{
    struct overhead sum = overhead_subtract(o->profile, &cost, 1, false);
    rollup_free(o->rollup);
    o->rollup = rollup_new(o->profile);
    check_identities(o);
    return sum;
}

static void expect_overhead(struct times t, uint64_t inclusive, uint64_t exclusive)
{
    cr_assert(eq(u64, t.overhead_inclusive, inclusive));
    cr_assert(eq(u64, t.overhead_exclusive, exclusive));
}

Test(unit_overhead, each_call_pays_for_itself_and_for_the_calls_it_makes)
{
    struct outcome o = overhead_nested();
    struct overhead sum = overhead_subtract_costs(&o, (struct probe_cost){ 1, 2 * TICK, 5 * TICK, 3 * TICK });
    /* F: one call, three made: 2 + 3 * 5 + 3. G: three calls, one made: 3 * 2 + 5 + 3. H: one call. */
    ASSERT_TIMES(function_times(&o, F), 1000 - 20 - 14 - 2, 700 - 20, 1000 - 20 - 14 - 2, 700 - 20, 1);
    ASSERT_TIMES(function_times(&o, G), 300 - 14 - 2, 290 - 14, 300 - 14 - 2, 290 - 14, 3);
    ASSERT_TIMES(function_times(&o, H), 8, 8, 8, 8, 1);
    expect_overhead(function_times(&o, F), 36, 20);
    expect_overhead(function_times(&o, G), 16, 14);
    expect_overhead(function_times(&o, H), 2, 2);
    cr_assert(eq(u64, sum.subtracted, 36));
    cr_assert(eq(u64, sum.missing, 0));
    cr_assert(eq(sz, sum.paths, 3));
    cr_assert(eq(sz, sum.held, 0));
    outcome_drop(&o);
}

Test(unit_overhead, is_rounded_down_once_for_each_path)
{
    struct outcome o = overhead_nested();
    overhead_subtract_costs(&o, (struct probe_cost){ 1, TICK / 2, 0, 0 });
    expect_overhead(function_times(&o, F), 1, 0);
    expect_overhead(function_times(&o, G), 1, 1); /* three halves */
    outcome_drop(&o);
}

Test(unit_overhead, leaves_no_time_below_zero)
{
    struct outcome o = overhead_nested();
    struct overhead sum = overhead_subtract_costs(&o, (struct probe_cost){ 1, 11 * TICK, 0, 0 });
    ASSERT_TIMES(function_times(&o, H), 0, 0, 0, 0, 1);
    expect_overhead(function_times(&o, H), 10, 10);
    cr_assert(eq(u64, sum.subtracted, 11 + 33 + 10));
    cr_assert(eq(u64, sum.missing, 1));
    cr_assert(eq(sz, sum.held, 1));
    outcome_drop(&o);
}

Test(unit_overhead, is_no_time_off_the_cpu)
{
    struct writer *w = overhead_begin();
    write_enter(w, 0, F);
    write_off_cpu(w, false, 10, 60);
    write_off_cpu(w, true, 80, 30);
    write_exit(w, 100);
    struct outcome o = outcome_of(w, 1);
    struct overhead sum = overhead_subtract_costs(&o, (struct probe_cost){ 1, 50 * TICK, 0, 0 });
    struct times t = function_times(&o, F);
    ASSERT_TIMES(t, 90, 90, 0, 0, 1);
    cr_assert(eq(u64, t.blocked_exclusive, 60));
    cr_assert(eq(u64, t.preempted_exclusive, 30));
    cr_assert(eq(u64, times_value(&t, VALUE_CPU, EXCLUSIVE), 0));
    cr_assert(eq(u64, sum.missing, 40));
    outcome_drop(&o);
}

Test(unit_overhead, is_taken_from_flagged_intervals_last)
{
    struct writer *w = overhead_begin();
    write_enter(w, 0, F);
    write_os(w);
    write_enter(w, 60, G);
    write_exit(w, 70);
    write_exit(w, 100);
    struct outcome o = outcome_of(w, 1);
    overhead_subtract_costs(&o, (struct probe_cost){ 1, 0, 40 * TICK, 0 });
    ASSERT_TIMES(function_times(&o, F), 60, 50, 10, 0, 1); /* all of the 30 that are not flagged, and 10 more */
    outcome_drop(&o);
}

static void write_runtime(struct writer *w, uint16_t ticks)
{
    write_words(w, (uint16_t[]){ DWELL_EXT_RUNTIME << DWELL_EXTENSION_LENGTH_BITS | 3, ticks, 0, 0 }, 4);
}

/* In older recordings, that time contains time off the CPU, which stays. */
Test(unit_overhead, time_that_the_runtime_recorded_comes_first)
{
    struct writer *w = overhead_begin();
    write_enter(w, 0, F);
    write_off_cpu(w, false, 10, 60);
    write_off_cpu(w, true, 80, 30);
    write_runtime(w, 65);
    write_exit(w, 100);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 100, 100, 0, 0, 1); /* as measured: the process recorded no costs */
    overhead_subtract_costs(&o, (struct probe_cost){ 1, TICK, 0, 0 });
    struct times t = function_times(&o, F);
    ASSERT_TIMES(t, 90, 90, 0, 0, 1);
    expect_overhead(t, 10, 10);
    cr_assert(eq(u64, t.blocked_exclusive, 60));
    cr_assert(eq(u64, t.preempted_exclusive, 30));
    outcome_drop(&o);
}

Test(unit_overhead, is_at_most_the_interval)
{
    struct writer *w = overhead_begin();
    write_enter(w, 0, F);
    write_runtime(w, 500);
    write_exit(w, 100);
    struct outcome o = outcome_of(w, 1);
    struct overhead sum = overhead_subtract_costs(&o, (struct probe_cost){ 1, 0, 0, 0 });
    ASSERT_TIMES(function_times(&o, F), 0, 0, 0, 0, 1);
    cr_assert(eq(u64, sum.subtracted, 100));
    outcome_drop(&o);
}

Test(unit_overhead, is_zero_without_recorded_costs)
{
    struct outcome o = overhead_nested();
    struct overhead sum = overhead_subtract_costs(&o, (struct probe_cost){ 2, 2 * TICK, 5 * TICK, 3 * TICK });
    ASSERT_TIMES(function_times(&o, F), 1000, 700, 1000, 700, 1);
    expect_overhead(function_times(&o, F), 0, 0);
    cr_assert(eq(u64, sum.subtracted, 0));
    cr_assert(eq(sz, sum.paths, 0));
    outcome_drop(&o);
}

/* In a call tree, overhead counts as flagged while flagged time is left. It never exceeds the time on the CPU. */
Test(unit_overhead, runtime_time_in_call_trees)
{
    static const struct tree_node nodes[] = {
        { .function = F, .calls = 1, .elapsed = 1000, .flagged = 400, .blocked = 300, .preempted = 50, .runtime = 100 },
        { .function = G,
          .parent = 1,
          .calls = 1,
          .elapsed = 500,
          .flagged = 450,
          .blocked = 400,
          .preempted = 100,
          .runtime = 80 },
        { .function = H, .parent = 1, .calls = 1, .elapsed = 10, .runtime = 5000 },
    };
    struct writer *w = writer_new();
    write_header(w, 176, 1, 4);
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    end_records(w, true);
    write_tree(w, 1, 1, nodes, 3);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 1510, 1000, 500, 500, 1);
    struct overhead sum = overhead_subtract_costs(&o, (struct probe_cost){ 1, 0, 0, 0 });
    cr_assert(eq(u64, sum.subtracted, 100 + 0 + 10));
    ASSERT_TIMES(function_times(&o, F), 1400, 900, 500, 500, 1);
    ASSERT_TIMES(function_times(&o, G), 500, 500, 0, 0, 1);
    ASSERT_TIMES(function_times(&o, H), 0, 0, 0, 0, 1);
    struct times f = function_times(&o, F), g = function_times(&o, G);
    expect_overhead(f, 110, 100);
    expect_overhead(g, 0, 0);
    cr_assert(eq(u64, f.blocked_exclusive, 300));
    cr_assert(eq(u64, f.preempted_exclusive, 50));
    cr_assert(eq(u64, g.blocked_exclusive, 400));
    cr_assert(eq(u64, g.preempted_exclusive, 100));
    outcome_drop(&o);
}

/* The runtime's time is at the end of an interval. Ranges that split the interval each have their share. */
Test(unit_overhead, runtime_time_in_ranges_of_time)
{
    struct writer *w = overhead_begin();
    const char *path = test_path("ranges.dwell"), *error;
    write_enter(w, 0, F);
    write_words(w, (uint16_t[]){ DWELL_EXT_RUNTIME << 8 | 3, 30, 0, 0 }, 4);
    write_exit(w, 100);
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    static const uint64_t borders[][3] = { { 0, UINT64_MAX, 30 }, { 0, 80, 10 }, { 80, UINT64_MAX, 20 } };
    for (int i = 0; i < 3; i++) {
        struct profile *p = collect_selection(
            file, NULL, 1, &(struct selection){ .cut = true, .from = borders[i][0], .to = borders[i][1] });
        uint64_t sum = 0;
        for (size_t j = 0; j < p->node_count; j++)
            sum += p->nodes[j].runtime;
        cr_assert(eq(u64, sum, borders[i][2]), "%d", i);
        profile_free(p);
    }
    session_file_close(file);
}
