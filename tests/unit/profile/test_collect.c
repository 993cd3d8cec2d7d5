/* The four times of known stacks. Each test has one small session whose values are computed by hand. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "profile/collect.h"
#include "profile/waits.h"
#include "support/load.h"
#include "support/scenario.h"

enum { F = 0x1000, G = 0x2000, H = 0x3000 };

static struct writer *collect_begin_thread(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    return w;
}

Test(unit_collect, nested_calls)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1010, F); /* the ten before belong to no function */
    write_enter(w, 1030, G);
    write_exit(w, 1070);
    write_exit(w, 1075);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 65, 25, 65, 25, 1);
    ASSERT_TIMES(function_times(&o, G), 40, 40, 40, 40, 1);
    cr_assert(eq(u64, o.rollup->session.elapsed_inclusive, 65));
    cr_assert(eq(u64, o.profile->counts.outside, 10));
    cr_assert(eq(u64, o.profile->counts.enters, 2));
    cr_assert(eq(u64, o.profile->counts.exits, 2));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, direct_recursion_counts_an_interval_once)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 1, F);
    write_enter(w, 11, F);
    write_enter(w, 31, F);
    write_exit(w, 61);
    write_exit(w, 65);
    write_exit(w, 70);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 69, 69, 69, 69, 3);
    struct times f = function_times(&o, F);
    cr_assert(eq(u64, f.shortest, 30));
    cr_assert(eq(u64, f.longest, 69));
    ASSERT_TIMES(path_times(&o, 1, (uint64_t[]){ F, F, 0 }), 54, 24, 54, 24, 1);
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, mutual_recursion)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 1, F);
    write_enter(w, 3, G);
    write_enter(w, 7, F);
    write_enter(w, 15, G);
    write_exit(w, 31);
    write_exit(w, 32);
    write_exit(w, 34);
    write_exit(w, 38);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 37, 2 + 8 + 1 + 4, 37, 15, 2);
    ASSERT_TIMES(function_times(&o, G), 31, 4 + 16 + 2, 31, 22, 2);
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, a_flagged_interval_leaves_application_times_whole)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_os(w);
    write_exit(w, 120); /* 100 in G, flagged */
    write_off_cpu(w, false, 121, 3);
    write_off_cpu(w, true, 125, 1);
    write_faults(w, 7);
    write_exit(w, 128); /* 8 in F, flagged once, nine events */
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 118, 18, 10, 10, 1);
    ASSERT_TIMES(function_times(&o, G), 100, 100, 0, 0, 1);
    cr_assert(eq(u64, o.rollup->session.application_inclusive, 10));
    cr_assert(eq(u64, o.profile->counts.os_events, 10));
    cr_assert(eq(u64, o.profile->counts.page_faults, 7));
    cr_assert(eq(u64, o.profile->counts.blocked, 3));
    cr_assert(eq(u64, o.profile->counts.preempted, 1));
    cr_assert(eq(u64, o.profile->counts.flagged_intervals, 2));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, frames_that_were_left_end_at_the_next_event)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_enter(w, 30, H);
    write_unwind(w, 2);
    write_enter(w, 50, G); /* H and G were left; this G is F's child */
    write_exit(w, 53);
    write_exit(w, 54);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(path_times(&o, 1, (uint64_t[]){ F, G, 0 }), 33, 13, 33, 13, 2);
    ASSERT_TIMES(function_times(&o, H), 20, 20, 20, 20, 1);
    ASSERT_TIMES(function_times(&o, F), 44, 11, 44, 11, 1);
    cr_assert(eq(u64, o.profile->counts.unwound, 2));
    cr_assert(eq(u64, function_times(&o, H).longest, 20));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, threads_and_processes)
{
    struct writer *w = collect_begin_thread();
    write_thread(w, 1, 2, 101, SOURCE_PERF, "second");
    write_process(w, 2, 200, "/bin/other");
    write_thread(w, 2, 3, 200, SOURCE_PERF, "third");
    for (uint32_t thread = 1; thread <= 3; thread++) {
        begin_events(w, thread == 3 ? 2 : 1, thread, 0, 0, NULL, 0);
        write_enter(w, 100, F);
        write_exit(w, 100 + 10 * thread);
        end_events(w, true);
    }
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(thread_times(&o, 1), 10, 10, 10, 10, 1);
    ASSERT_TIMES(thread_times(&o, 2), 20, 20, 20, 20, 1);
    ASSERT_TIMES(thread_times(&o, 3), 30, 30, 30, 30, 1);
    ASSERT_TIMES(process_times(&o, 1), 30, 30, 30, 30, 2);
    ASSERT_TIMES(process_times(&o, 2), 30, 30, 30, 30, 1);
    ASSERT_TIMES(function_times(&o, F), 60, 60, 60, 60, 3);
    cr_assert(eq(u64, o.rollup->session.elapsed_inclusive, 60));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, the_interval_to_the_threads_end)
{
    for (int flagged = 0; flagged < 2; flagged++) {
        struct writer *w = collect_begin_thread();
        begin_events(w, 1, 1, 0, 0, NULL, 0);
        write_enter(w, 10, F);
        write_enter(w, 20, G);
        end_events(w, true);
        write_thread_end(w, 1, 1, true, 25); /* the later record is the valid one */
        write_thread_end(w, 1, 1, flagged, 120);
        write_process_end(w, 1, 100, END_EXIT, 0, 500);
        struct outcome o = outcome_of(w, 1);
        ASSERT_TIMES(function_times(&o, G), 100, 100, flagged ? 0 : 100, flagged ? 0 : 100, 1);
        ASSERT_TIMES(function_times(&o, F), 110, 10, flagged ? 10 : 110, 10, 1);
        check_identities(&o);
        outcome_drop(&o);
    }
}

Test(unit_collect, the_counts_of_a_call_tree_add_up)
{
    static const struct tree_node nodes[] = {
        { .function = F, .calls = 1, .page_faults = 3, .os_events = 5, .flagged_intervals = 2, .blocked = 7 },
        { .function = G,
          .parent = 1,
          .calls = 4,
          .page_faults = 10,
          .os_events = 11,
          .flagged_intervals = 6,
          .preempted = 8 },
    };
    struct writer *w = collect_begin_thread();
    end_records(w, true);
    write_tree(w, 1, 1, nodes, 2);
    struct outcome o = outcome_of(w, 1);
    const struct profile_counts *counts = &o.profile->counts;
    cr_assert(eq(u64, counts->enters, 5));
    cr_assert(eq(u64, counts->exits, 5));
    cr_assert(eq(u64, counts->intervals, 10));
    cr_assert(eq(u64, counts->flagged_intervals, 8));
    cr_assert(eq(u64, counts->os_events, 16));
    cr_assert(eq(u64, counts->page_faults, 13));
    cr_assert(eq(u64, counts->blocked, 7));
    cr_assert(eq(u64, counts->preempted, 8));
    outcome_drop(&o);
}

Test(unit_collect, off_the_cpu_to_the_threads_end)
{
    static const struct tree_node nodes[] = { { .function = F, .calls = 1, .elapsed = 10 } };
    static const uint64_t ends[][4] = { { 70, 20, 70, 20 }, { 70, 200, 70, 30 }, { 1000, 7, 100, 0 } };
    for (int tree = 0; tree < 2; tree++) {
        for (int i = 0; i < 3; i++) {
            struct writer *w = collect_begin_thread();
            if (tree) {
                write_header(w, 176, 1, 4);
                end_records(w, true);
                write_tree(w, 1, 1, nodes, 1);
                write_tree_head(w, 20, 1);
            } else {
                begin_events(w, 1, 1, 0, 0, NULL, 0);
                write_enter(w, 20, F);
                end_events(w, true);
            }
            write_thread_end_off_cpu(w, 1, 1, 120, ends[i][0], ends[i][1]);
            write_thread_end(w, 1, 1, true, 50); /* an earlier record, of an earlier version */
            struct outcome o = outcome_of(w, 1);
            const struct times t = function_times(&o, F);
            cr_assert(eq(u64, t.elapsed_exclusive, 100 + 10 * (uint64_t)tree));
            cr_assert(eq(u64, t.application_exclusive, 10 * (uint64_t)tree));
            cr_assert(eq(u64, t.blocked_exclusive, ends[i][2]));
            cr_assert(eq(u64, t.preempted_exclusive, ends[i][3]));
            check_identities(&o);
            outcome_drop(&o);
        }
    }
}

Test(unit_collect, a_killed_process_ends_its_threads_in_a_flagged_interval)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    end_events(w, false);
    write_process_end(w, 0, 100, END_SIGNAL, 9, 60);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 50, 50, 0, 0, 1);
    cr_assert(eq(u32, o.file->processes[0].end_how, END_SIGNAL));
    cr_assert(eq(u32, o.file->processes[0].end_value, 9));
    outcome_drop(&o);
}

Test(unit_collect, open_calls_continue_without_counting_again)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    end_events(w, true);
    struct open_call calls[] = { { F, 10 }, { G, 20 } };
    begin_events(w, 1, 1, 1, 20, calls, 2);
    write_exit(w, 45);
    write_exit(w, 50);
    struct outcome o = outcome_of(w, 2);
    ASSERT_TIMES(function_times(&o, F), 40, 15, 40, 15, 1);
    ASSERT_TIMES(function_times(&o, G), 25, 25, 25, 25, 1);
    cr_assert(eq(u64, function_times(&o, G).longest, 25));
    cr_assert(eq(u64, function_times(&o, F).longest, 40));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, an_exit_without_an_enter_changes_nothing)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_exit(w, 5);
    write_enter(w, 10, F);
    write_exit(w, 13);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 3, 3, 3, 3, 1);
    cr_assert(eq(u64, o.profile->counts.stray_exits, 1));
    outcome_drop(&o);
}

Test(unit_collect, functions_are_known_by_module_and_address)
{
    struct writer *w = collect_begin_thread();
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/prog");
    write_module(w, 1, 2, 0x7f0000000000, 0x7f0000001000, 0x7f0000002000, 0, "/lib/libx.so");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x401100);
    write_enter(w, 20, 0x7f0000001100); /* the same offset in the file */
    write_exit(w, 60);
    write_exit(w, 70);
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(sz, o.profile->function_count, 2));
    cr_assert(eq(sz, o.profile->module_count, 2));
    struct times *modules = rollup_groups(o.rollup, BY_MODULE);
    for (int i = 0; i < 2; i++) {
        bool library = strcmp(o.profile->modules[i].path, "/lib/libx.so") == 0;
        cr_assert(eq(u64, modules[i].elapsed_inclusive, library ? 40 : 60));
        cr_assert(eq(u64, modules[i].elapsed_exclusive, library ? 40 : 20));
        cr_assert(eq(u64, o.profile->functions[i].offset, 0x1100));
    }
    free(modules);
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_collect, another_module_at_the_same_address_later)
{
    struct writer *w = collect_begin_thread();
    write_module(w, 1, 1, 0x10000, 0x11000, 0x12000, 0, "/lib/first.so");
    write_module_unload(w, 1, 1, 100);
    write_module(w, 1, 2, 0x10000, 0x11000, 0x12000, 110, "/lib/second.so");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t time = 50; time <= 150; time += 100) {
        write_enter(w, time, 0x11100);
        write_exit(w, time + (time == 50 ? 1 : 2));
    }
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(sz, o.profile->module_count, 2));
    struct times *modules = rollup_groups(o.rollup, BY_MODULE);
    for (int i = 0; i < 2; i++) {
        bool first = strcmp(o.profile->modules[i].path, "/lib/first.so") == 0;
        cr_assert(eq(u64, modules[i].elapsed_inclusive, first ? 1 : 2));
        cr_assert(eq(u64, modules[i].calls, 1));
    }
    free(modules);
    outcome_drop(&o);
}

Test(unit_collect, neighbours)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, H); /* 30 from F, of them 10 in G */
    write_enter(w, 25, G);
    write_exit(w, 35);
    write_exit(w, 50);
    write_exit(w, 60);
    write_enter(w, 70, H); /* 5 from no caller */
    write_exit(w, 75);
    struct outcome o = outcome_of(w, 1);
    uint32_t f = 0;
    while (o.profile->functions[f].offset != H)
        f++;
    struct neighbours n = rollup_neighbours(o.rollup, f);
    cr_assert(eq(sz, n.caller_count, 2));
    cr_assert(eq(sz, n.callee_count, 1));
    for (int i = 0; i < 2; i++) {
        bool root = n.callers[i].function == PROFILE_NONE;
        cr_assert(eq(u64, n.callers[i].times.elapsed_inclusive, root ? 5 : 30));
        cr_assert(eq(u64, n.callers[i].times.elapsed_exclusive, root ? 5 : 20));
    }
    ASSERT_TIMES(n.callees[0].times, 10, 10, 10, 10, 1);
    neighbours_free(&n);
    outcome_drop(&o);
}

/* The node of the only call path of that length. */
static const struct profile_node *collect_node_of(const struct outcome *o, uint64_t address)
{
    for (size_t i = 0; i < o->profile->node_count; i++) {
        const uint32_t function = o->profile->nodes[i].function;
        if (function != PROFILE_NONE && o->profile->functions[function].offset == address)
            return &o->profile->nodes[i];
    }
    cr_fatal("no such function");
}

Test(unit_collect, blocked_time_belongs_to_the_call_that_waited)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_off_cpu(w, false, 20, 30);
    write_off_cpu(w, false, 60, 5);
    write_enter(w, 100, G);
    write_off_cpu(w, true, 110, 40); /* preempted */
    write_exit(w, 200);
    write_off_cpu(w, false, 210, 50); /* the kernel's clock reports more than the interval has */
    write_exit(w, 240);
    write_off_cpu(w, false, 300, 60); /* in no call */
    write_enter(w, 400, H);
    write_exit(w, 410);
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(u64, collect_node_of(&o, F)->blocked, 35 + 40));
    cr_assert(eq(u64, collect_node_of(&o, G)->blocked, 0));
    cr_assert(eq(u64, collect_node_of(&o, H)->blocked, 0));
    cr_assert(eq(u64, o.profile->nodes[o.profile->threads[0].root].blocked, 0));
    cr_assert(eq(u64, o.profile->counts.blocked, 145)); /* as recorded */
    outcome_drop(&o);
}

Test(unit_collect, os_time_during_a_pause_is_discarded)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_words(w, (uint16_t[]){ 11u << 8 | 3, 30, 0, 0 }, 4); /* PAUSE at 30 */
    write_off_cpu(w, false, 40, 25);
    write_words(w, (uint16_t[]){ 12u << 8 | 5, 130, 0, 0, 0, 0 }, 6); /* RESUME at 130 */
    w->last = 130;
    write_exit(w, 137);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 27, 27, 27, 27, 1);
    cr_assert(eq(u64, collect_node_of(&o, F)->blocked, 0));
    check_identities(&o);
    outcome_drop(&o);
}

/* ---- chunks without waits ---- */

/* Each chunk has a call of F, in the second one with a wait, and in the third one with an act. */
static void collect_save_chunks(void)
{
    struct writer *w = collect_begin_thread();
    for (uint32_t i = 0; i < 5; i++) {
        begin_events(w, 1, 1, i, 1000 * i + 10, NULL, 0);
        write_enter(w, 1000 * i + 20, F);
        if (i == 0)
            write_off_cpu(w, true, 30, 50); /* preempted is no wait */
        if (i == 1)
            write_off_cpu(w, false, 1030, 50);
        if (i == 2)
            write_object(w, OBJECT_MUTEX, true, 7, 0);
        write_exit(w, 1000 * i + 100);
        end_events(w, true);
    }
    write_thread_end(w, 1, 1, false, 5000);
    writer_save(w, test_path("chunks.dwell"));
    writer_free(w);
}

static void expect_waits(const struct analysis *analysis, size_t count, size_t acts)
{
    struct waits waits = { .acts_too = true };
    profile_free(collect_waits(analysis->file, 2, NULL, &waits));
    cr_assert(eq(sz, waits.count, count));
    cr_assert(eq(sz, waits.act_count, acts));
    waits_drop(&waits);
}

/* Where a session was read for its sums, its waits are looked for only in chunks that have some. */
Test(unit_collect, chunks_without_waits_are_not_read_for_waits)
{
    struct analysis analysis;
    collect_save_chunks();
    load_whole(&analysis, test_path("chunks.dwell"), 2);
    struct trace_chunk *chunks[5];
    size_t count = 0;
    for (size_t i = 0; i < analysis.file->chunk_count && count < 5; i++)
        if (analysis.file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            chunks[count++] = &analysis.file->chunks[i];
    cr_assert(eq(sz, count, 5));
    for (size_t i = 0; i < count; i++)
        cr_assert(eq(int, chunks[i]->without_waits, i != 1 && i != 2));
    expect_waits(&analysis, 1, 1);
    chunks[1]->without_waits = true;
    expect_waits(&analysis, 0, 1);
    chunks[2]->without_waits = true;
    expect_waits(&analysis, 0, 0);
    analysis_drop(&analysis);
}

/* The time from a thread's last event to its end is in none of its events, and can be a wait. */
Test(unit_collect, a_last_chunk_is_read_for_the_wait_at_its_end)
{
    struct writer *w = collect_begin_thread();
    begin_events(w, 1, 1, 0, 10, NULL, 0);
    write_enter(w, 20, F);
    write_exit(w, 100);
    write_enter(w, 110, G);
    end_events(w, true);
    write_thread_end_off_cpu(w, 1, 1, 400, 250, 0);
    writer_save(w, test_path("end.dwell"));
    writer_free(w);
    struct analysis analysis;
    load_whole(&analysis, test_path("end.dwell"), 1);
    expect_waits(&analysis, 1, 0);
    analysis_drop(&analysis);
}
