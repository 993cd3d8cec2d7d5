/* Each kind of extension by itself, with others, and at places where it is ignored. docs/format.md describes them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "profile/overhead.h"
#include "support/scenario.h"

enum { F = 0x1000, G = 0x2000, H = 0x3000 };

static struct writer *extensions_in_f(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    return w;
}

/* F from 10 to 30. The test puts extensions before its exit. */
static struct outcome extensions_leave_f(struct writer *w)
{
    write_exit(w, 30);
    return outcome_of(w, 1);
}

static void expect_flagged(struct writer *w, uint64_t events, uint64_t faults, uint64_t blocked, uint64_t preempted)
{
    struct outcome o = extensions_leave_f(w);
    ASSERT_TIMES(function_times(&o, F), 20, 20, 0, 0, 1);
    cr_assert(eq(u64, o.profile->counts.flagged_intervals, 1));
    cr_assert(eq(u64, o.profile->counts.intervals, 2));
    cr_assert(eq(u64, o.profile->counts.os_events, events));
    cr_assert(eq(u64, o.profile->counts.page_faults, faults));
    cr_assert(eq(u64, o.profile->counts.blocked, blocked));
    cr_assert(eq(u64, o.profile->counts.preempted, preempted));
    outcome_drop(&o);
}

Test(unit_extensions, os)
{
    struct writer *w = extensions_in_f();
    write_os(w);
    expect_flagged(w, 1, 0, 0, 0);
}

Test(unit_extensions, blocked)
{
    struct writer *w = extensions_in_f();
    write_off_cpu(w, false, 12, 5);
    expect_flagged(w, 1, 0, 5, 0);
}

Test(unit_extensions, blocked_for_48_bits_of_ticks)
{
    struct writer *w = extensions_in_f();
    write_off_cpu(w, false, 12, 0xfedcba987654);
    expect_flagged(w, 1, 0, 0xfedcba987654, 0);
}

Test(unit_extensions, preempted)
{
    struct writer *w = extensions_in_f();
    write_off_cpu(w, true, 12, 6);
    expect_flagged(w, 1, 0, 0, 6);
}

Test(unit_extensions, faults)
{
    struct writer *w = extensions_in_f();
    write_faults(w, 65535);
    expect_flagged(w, 65535, 65535, 0, 0);
}

Test(unit_extensions, more_faults_than_a_word_holds)
{
    struct writer *w = extensions_in_f();
    write_words(w, (uint16_t[]){ 6u << 8 | 2, 1, 2 }, 3);
    expect_flagged(w, 0x20001, 0x20001, 0, 0);
}

/* Where a filter hides the calls of the rest. */
Test(unit_extensions, a_part_of_the_interval)
{
    struct writer *w = extensions_in_f();
    write_words(w, (uint16_t[]){ 3u << 8 | 3, 7, 0, 0 }, 4); /* OS */
    write_off_cpu(w, false, 12, 4);
    write_faults(w, 2);
    struct outcome o = extensions_leave_f(w);
    ASSERT_TIMES(function_times(&o, F), 20, 20, 13, 13, 1);
    struct times t = function_times(&o, F);
    cr_assert(eq(u64, t.blocked_exclusive, 4));
    cr_assert(eq(u64, t.flagged_on_cpu_exclusive, 3));
    cr_assert(eq(u64, o.profile->counts.flagged_intervals, 1));
    cr_assert(eq(u64, o.profile->counts.os_events, 4));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_extensions, a_part_is_at_least_the_time_off_the_cpu)
{
    struct writer *w = extensions_in_f();
    write_words(w, (uint16_t[]){ 3u << 8 | 3, 2, 0, 0 }, 4);
    write_off_cpu(w, false, 12, 4);
    struct outcome o = extensions_leave_f(w);
    ASSERT_TIMES(function_times(&o, F), 20, 20, 16, 16, 1);
    outcome_drop(&o);
}

/* The cost of hidden calls is outside of the flagged part, as far as it has room there. */
Test(unit_extensions, runtime_in_an_interval_that_is_flagged_in_part)
{
    for (uint16_t words = 1; words <= 3; words += 2)
        for (uint16_t runtime = 5; runtime <= 16; runtime += 11) {
            struct writer *w = extensions_in_f();
            write_words(w, (uint16_t[]){ 3u << 8 | 3, 7, 0, 0 }, 4);
            write_words(w, (uint16_t[]){ (uint16_t)(19u << 8 | words), runtime, 0, 0 }, 1 + words);
            struct outcome o = extensions_leave_f(w);
            ASSERT_TIMES(function_times(&o, F), 20, 20, 13, 13, 1);
            overhead_subtract(o.profile, &(struct probe_cost){ 1, 0, 0, 0 }, 1, false);
            const struct profile_node *f = &o.profile->nodes[o.profile->node_count - 1];
            cr_assert(eq(u64, f->elapsed, 20 - runtime));
            cr_assert(eq(u64, f->flagged, runtime == 5 ? 7 : 4));
            outcome_drop(&o);
        }
}

Test(unit_extensions, several_of_them)
{
    struct writer *w = extensions_in_f();
    write_off_cpu(w, true, 12, 6);
    write_off_cpu(w, true, 20, 1);
    write_faults(w, 2);
    write_off_cpu(w, false, 25, 3);
    expect_flagged(w, 5, 2, 3, 7);
}

Test(unit_extensions, only_the_interval_before_the_event_is_flagged)
{
    struct writer *w = extensions_in_f();
    write_os(w);
    write_enter(w, 13, G);
    write_exit(w, 17);
    struct outcome o = extensions_leave_f(w);
    ASSERT_TIMES(function_times(&o, F), 20, 16, 17, 13, 1);
    ASSERT_TIMES(function_times(&o, G), 4, 4, 4, 4, 1);
    outcome_drop(&o);
}

Test(unit_extensions, reserved_and_unknown_types_are_ignored)
{
    for (unsigned type = 8; type < 64; type++) {
        if ((type >= 10 && type <= 15 && type != 13) || type == 19 || type == 20)
            continue; /* these have a meaning */
        struct writer *w = extensions_in_f();
        uint16_t words[256] = { (uint16_t)(type << 8 | (type == 9 || type == 13 ? 0 : type == 63 ? 255 : 2)) };
        for (unsigned i = 1; i < 256; i++)
            words[i] = 0xffff; /* would be exits */
        write_words(w, words, 1 + (words[0] & 255));
        struct outcome o = extensions_leave_f(w);
        ASSERT_TIMES(function_times(&o, F), 20, 20, 20, 20, 1);
        cr_assert(eq(u64, o.profile->counts.exits, 1), "type %u", type);
        cr_assert(eq(u64, o.profile->counts.damaged_chunks, 0));
        outcome_drop(&o);
    }
}

Test(unit_extensions, longer_extensions_are_read_as_far_as_this_version_knows)
{
    struct writer *w = extensions_in_f();
    write_words(w, (uint16_t[]){ 3u << 8 | 4, 20, 0, 0, 0xffff }, 5); /* OS */
    write_words(w, (uint16_t[]){ 6u << 8 | 4, 4, 0, 0, 0xffff }, 5);  /* FAULTS */
    write_words(w, (uint16_t[]){ 1u << 8 | 4, 30, 0, 0, 0xffff }, 5); /* TIME */
    expect_flagged(w, 5, 4, 0, 0);
}

Test(unit_extensions, unwind_before_an_exit)
{
    struct writer *w = extensions_in_f();
    write_enter(w, 12, G);
    write_enter(w, 15, H);
    write_unwind(w, 2);
    struct outcome o = extensions_leave_f(w); /* the exit is F's */
    ASSERT_TIMES(function_times(&o, H), 15, 15, 15, 15, 1);
    ASSERT_TIMES(function_times(&o, G), 18, 3, 18, 3, 1);
    ASSERT_TIMES(function_times(&o, F), 20, 2, 20, 2, 1);
    cr_assert(eq(u64, function_times(&o, G).longest, 18));
    cr_assert(eq(u64, o.profile->counts.unwound, 2));
    cr_assert(eq(u64, o.profile->counts.stray_exits, 0));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_extensions, no_more_frames_are_left_than_are_open)
{
    struct writer *w = extensions_in_f();
    write_unwind(w, UINT32_MAX);
    write_enter(w, 25, G);
    struct outcome o = extensions_leave_f(w);
    ASSERT_TIMES(function_times(&o, F), 15, 15, 15, 15, 1);
    ASSERT_TIMES(path_times(&o, 1, (uint64_t[]){ G, 0 }), 5, 5, 5, 5, 1);
    cr_assert(eq(u64, o.profile->counts.unwound, 1));
    check_identities(&o);
    outcome_drop(&o);
}

/* ---- order, and words that were claimed but not written ---- */

/* UPPER, TIME, OS and UNWIND before an enter, in the order that `turn` gives. */
static struct outcome extensions_in_order(unsigned turn)
{
    struct writer *w = extensions_in_f();
    for (unsigned i = 0; i < 4; i++) {
        switch ((i + turn) % 4) {
        case 0:
            write_upper(w, 1, 0x7f);
            break;
        case 1:
            write_time(w, 1000000);
            break;
        case 2:
            write_os(w);
            break;
        default:
            write_unwind(w, 1);
        }
    }
    write_words(w, (uint16_t[]){ 2u << 14 | (1000000 & 0x3fff), G, 0 }, 3);
    w->last = 1000000;
    write_exit(w, 1000005);
    return outcome_of(w, 1);
}

Test(unit_extensions, their_order_does_not_matter)
{
    for (unsigned turn = 0; turn < 4; turn++) {
        struct outcome o = extensions_in_order(turn);
        ASSERT_TIMES(path_times(&o, 1, (uint64_t[]){ 0x7f00002000, 0 }), 5, 5, 5, 5, 1);
        ASSERT_TIMES(function_times(&o, F), 999990, 999990, 0, 0, 1);
        outcome_drop(&o);
    }
}

Test(unit_extensions, a_hole_voids_an_upper_half_and_a_time)
{
    struct writer *w = extensions_in_f();
    write_upper(w, 0, 0x7f);
    write_time(w, 500000);
    write_words(w, (uint16_t[]){ 0, 0, 0 }, 3);
    w->upper[0] = 0; /* the reader has not changed it */
    write_enter(w, 12, G);
    write_exit(w, 13);
    struct outcome o = extensions_leave_f(w);
    ASSERT_TIMES(path_times(&o, 1, (uint64_t[]){ F, G, 0 }), 1, 1, 1, 1, 1);
    ASSERT_TIMES(function_times(&o, F), 20, 19, 20, 19, 1);
    outcome_drop(&o);
}

Test(unit_extensions, a_hole_voids_extensions_before_it_but_not_after_it)
{
    struct writer *w = extensions_in_f();
    write_off_cpu(w, false, 11, 2);
    write_words(w, (uint16_t[]){ 0, 0, 0 }, 3);
    write_faults(w, 3);
    expect_flagged(w, 3, 3, 0, 0);
}

Test(unit_extensions, extensions_without_an_event_are_ignored)
{
    for (int with_used = 0; with_used < 2; with_used++) {
        struct writer *w = extensions_in_f();
        write_exit(w, 20);
        write_os(w);
        write_unwind(w, 1);
        end_events(w, with_used);
        struct outcome o = outcome_of(w, 1);
        ASSERT_TIMES(function_times(&o, F), 10, 10, 10, 10, 1);
        cr_assert(eq(u64, o.profile->counts.os_events, 0));
        cr_assert(eq(u64, o.profile->counts.damaged_chunks, 0));
        outcome_drop(&o);
    }
}

/* ---- times and addresses ---- */

Test(unit_extensions, upper_halves_of_the_chunks_header)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    set_upper_halves(w, 0x5555, 0x7fff);
    write_words(w, (uint16_t[]){ 1u << 14 | 10, 0x1000, 0 }, 3);
    write_words(w, (uint16_t[]){ 2u << 14 | 15, 0x2000, 0xf000 }, 3);
    w->last = 15;
    write_exit(w, 16);
    write_exit(w, 20);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(path_times(&o, 1, (uint64_t[]){ 0x555500001000, 0x7ffff0002000, 0 }), 1, 1, 1, 1, 1);
    ASSERT_TIMES(function_times(&o, 0x555500001000), 10, 9, 10, 9, 1);
    outcome_drop(&o);
}

Test(unit_extensions, a_whole_round_of_the_48_bits_less_one_tick)
{
    const uint64_t start = 0xabc0123456789, end = start + (1ull << 48) - 1;
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, start, NULL, 0);
    write_enter(w, start, F); /* no time has passed at all */
    write_exit(w, end);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), end - start, end - start, end - start, end - start, 1);
    outcome_drop(&o);
}

Test(unit_extensions, a_thousand_calls_of_no_ticks_are_calls)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 77, NULL, 0);
    for (int i = 0; i < 1000; i++) {
        write_enter(w, 77, F);
        write_exit(w, 77);
    }
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 0, 0, 0, 0, 1000);
    cr_assert(eq(u64, function_times(&o, F).shortest, 0));
    outcome_drop(&o);
}

/* ---- after a kill ---- */

Test(unit_extensions, after_a_truncated_enter_the_time_belongs_to_the_caller)
{
    struct writer *w = extensions_in_f();
    write_words(w, (uint16_t[]){ 1u << 14 | 25, 0, 0 }, 3); /* its word is stored, its address is not */
    end_events(w, false);
    write_process_end(w, 0, 100, END_SIGNAL, 9, 60);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 50, 50, 0, 0, 1);
    outcome_drop(&o);
}

Test(unit_extensions, a_chunk_ends_in_zeros_or_at_its_given_end)
{
    for (int with_used = 0; with_used < 2; with_used++) {
        struct writer *w = extensions_in_f();
        write_exit(w, 20);
        end_events(w, with_used);
        write_thread_end(w, 1, 1, false, 25);
        struct outcome o = outcome_of(w, 1);
        ASSERT_TIMES(function_times(&o, F), 10, 10, 10, 10, 1);
        cr_assert(eq(u64, o.profile->counts.outside, 10 + 5));
        outcome_drop(&o);
    }
}
