/* Calls that were only counted, in sessions written by hand: who has them, and what does not change by them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile/counted.h"
#include "profile/overhead.h"
#include "profile/subtree.h"
#include "support/scenario.h"

enum { MAIN = 0x1000, HOT = 0x2000, BOTH = 0x3000, NEVER = 0x4000, LIBRARY = 0x500000, TICK = DWELL_PROBE_FRACTION };

/* Thread 1 runs MAIN from 0 to 1000, with BOTH from 100 to 300. Thread 2 has only counted calls. */
static struct writer *counted_begin(void)
{
    static const uint64_t first[][2] = { { HOT, 70 }, { 0, 9 }, { BOTH, 5 }, { NEVER, 0 } },
                          second[][2] = { { HOT, 30 } };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_thread(w, 1, 2, 101, SOURCE_PERF, "other");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 100, BOTH);
    write_exit(w, 300);
    write_exit(w, 1000);
    end_events(w, true);
    write_counts(w, 1, 1, 50, first, 4);
    write_counts(w, 1, 2, 60, second, 1);
    return w;
}

Test(unit_counted, functions_threads_and_processes_have_the_calls)
{
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        struct outcome o = outcome_of(counted_begin(), jobs);
        check_identities(&o);
        ASSERT_TIMES(function_times(&o, MAIN), 1000, 800, 1000, 800, 1);
        ASSERT_TIMES(function_times(&o, BOTH), 200, 200, 200, 200, 6);
        ASSERT_TIMES(function_times(&o, HOT), 0, 0, 0, 0, 100);
        ASSERT_TIMES(thread_times(&o, 1), 1000, 1000, 1000, 1000, 77);
        ASSERT_TIMES(thread_times(&o, 2), 0, 0, 0, 0, 30);
        ASSERT_TIMES(process_times(&o, 1), 1000, 1000, 1000, 1000, 107);
        cr_assert(eq(u64, o.rollup->session.calls, 107));
        cr_assert(eq(u64, function_times(&o, BOTH).counted, 5));
        cr_assert(eq(sz, counted_functions(o.profile), 2));
        outcome_drop(&o);
    }
}

/* A thread uses a chunk from its start. */
Test(unit_counted, calls_behind_the_used_length_are_none)
{
    enum { USED = 12, HEADER = 64, PAIR = 16 };
    static const uint64_t pairs[][2] = { { HOT, 70 }, { BOTH, 5 }, { NEVER, 3 } };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    end_records(w, true);
    const size_t chunk = w->file.length;
    write_counts(w, 1, 1, 50, pairs, 3);
    write_header(w, chunk + USED, HEADER + 2 * PAIR, 4);
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(u64, function_times(&o, HOT).calls, 70));
    cr_assert(eq(u64, function_times(&o, BOTH).calls, 5));
    cr_assert(eq(u64, o.rollup->session.calls, 75));
    outcome_drop(&o);
}

Test(unit_counted, times_are_known_only_of_functions_that_were_also_timed)
{
    struct outcome o = outcome_of(counted_begin(), 1);
    const struct times both = function_times(&o, BOTH), hot = function_times(&o, HOT);
    cr_assert(value_is_known(VALUE_ELAPSED, 0, &both));
    cr_assert(not(value_is_known(VALUE_ELAPSED, 0, &hot)));
    cr_assert(value_is_known(VALUE_CALLS, NEEDS_CALLS, &hot));
    cr_assert(not(times_are_counted(&both)));
    cr_assert(times_are_counted(&hot));
    outcome_drop(&o);
}

Test(unit_counted, paths_and_the_cost_of_probes_are_those_of_timed_calls)
{
    struct outcome o = outcome_of(counted_begin(), 1);
    const uint64_t path[] = { MAIN, BOTH, 0 };
    cr_assert(eq(u64, path_times(&o, 1, path).calls, 1));
    struct overhead sum =
        overhead_subtract(o.profile, &(struct probe_cost){ 1, 2 * TICK, 5 * TICK, 3 * TICK }, 1, false);
    cr_assert(eq(u64, sum.subtracted, 2 + 5 + 3 + 2));
    cr_assert(eq(u64, sum.missing, 0));
    outcome_drop(&o);
}

/* The library's functions have the addresses of another one that was unloaded before. */
Test(unit_counted, functions_are_in_the_module_of_that_time)
{
    static const uint64_t calls[][2] = { { LIBRARY + 0x10, 4 } }, later[][2] = { { LIBRARY + 0x10, 6 } };
    struct writer *w = counted_begin();
    write_module(w, 1, 1, LIBRARY, LIBRARY, LIBRARY + 0x1000, 10, "/lib/a.so");
    write_module_unload(w, 1, 1, 100);
    write_module(w, 1, 2, LIBRARY, LIBRARY, LIBRARY + 0x1000, 200, "/lib/b.so");
    write_counts(w, 1, 1, 50, calls, 1);
    write_counts(w, 1, 1, 250, later, 1);
    struct outcome o = outcome_of(w, 1);
    struct times *sums = rollup_groups(o.rollup, BY_MODULE);
    for (size_t i = 0; i < o.profile->module_count; i++) {
        const char *path = o.profile->modules[i].path;
        cr_assert(eq(u64, sums[i].calls,
                     strcmp(path, "/lib/a.so") == 0   ? 4
                     : strcmp(path, "/lib/b.so") == 0 ? 6
                                                      : 107));
    }
    free(sums);
    outcome_drop(&o);
}

Test(unit_counted, a_part_below_a_function_has_its_own_counted_calls)
{
    struct outcome o = outcome_of(counted_begin(), 1);
    bool *roots = calloc(o.profile->function_count, sizeof *roots);
    for (size_t i = 0; i < o.profile->function_count; i++)
        roots[i] = o.profile->functions[i].offset == BOTH;
    struct profile *below = subtree_below(o.profile, roots), *used = subtree_used(below);
    struct rollup *r = rollup_new(used);
    cr_assert(eq(u64, r->session.calls, 6));
    cr_assert(eq(sz, used->function_count, 1));
    rollup_free(r);
    profile_free(used);
    profile_free(below);
    free(roots);
    outcome_drop(&o);
}

Test(unit_counted, what_was_counted_since_an_earlier_look)
{
    static const uint64_t more[][2] = { { HOT, 25 } };
    struct writer *w = counted_begin();
    struct outcome before = outcome_of(counted_begin(), 1);
    write_counts(w, 1, 1, 90, more, 1);
    struct outcome now = outcome_of(w, 1);
    struct profile *difference = profile_new();
    profile_copy_functions(difference, now.profile);
    counted_add_difference(difference, now.profile, before.profile);
    uint64_t calls = 0;
    for (size_t i = 0; i < difference->counted_count; i++)
        calls += difference->counted[i].calls;
    cr_assert(eq(u64, calls, 25));
    profile_free(difference);
    outcome_drop(&before);
    outcome_drop(&now);
}
