/* The table of values, and values computed by hand: exact ticks, with the identities of the time model. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "dwell/format.h"
#include "profile/overhead.h"
#include "support/scenario.h"

enum { F = 0x1000, G = 0x2000, TICK = DWELL_PROBE_FRACTION };

/* ---- the table ---- */

Test(unit_values, each_has_a_row)
{
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        cr_assert(v->key && v->label && v->heading, "value %d", i);
        cr_assert(v->forms == 1 || v->forms == VALUE_FORMS, "%s", v->key);
        for (unsigned form = 0; form < v->forms; form++)
            cr_assert(v->names[form] && v->titles[form] && v->meanings[form], "%s", v->key);
        for (unsigned part = 0; part < v->part_count; part++)
            cr_assert(ne(int, v->parts[part], i), "%s", v->key);
    }
}

Test(unit_values, no_two_have_a_name_in_common)
{
    for (enum value_id i = 0; i < VALUE_COUNT; i++)
        for (enum value_id j = 0; j < i; j++)
            for (unsigned form = 0; form < value_table[i].forms; form++)
                for (unsigned other = 0; other < value_table[j].forms; other++)
                    cr_assert(ne(str, (char *)value_column(i, (enum value_form)form),
                                 (char *)value_column(j, (enum value_form)other)));
}

Test(unit_values, are_known_as_the_session_and_the_row_say)
{
    const struct times nothing = times_of_nothing(), call = { .shortest = 1, .longest = 1 };
    cr_assert(value_is_known(VALUE_ELAPSED, 0, &nothing));
    cr_assert(not(value_is_known(VALUE_CALLS, NEEDS_APPLICATION | NEEDS_OFF_CPU, &nothing)));
    cr_assert(not(value_is_known(VALUE_MIN, NEEDS_CALLS, &nothing)));
    cr_assert(value_is_known(VALUE_MIN, NEEDS_CALLS, &call));
    cr_assert(value_is_known(VALUE_CPU, NEEDS_OFF_CPU, &nothing));
    cr_assert(not(value_is_known(VALUE_FLAGGED_ON_CPU, NEEDS_OFF_CPU, &nothing)));
    cr_assert(not(value_is_known(VALUE_FLAGGED_ON_CPU, NEEDS_APPLICATION, &nothing)));
    cr_assert(value_is_known(VALUE_FLAGGED_ON_CPU, NEEDS_APPLICATION | NEEDS_OFF_CPU, &nothing));
}

/* ---- amounts ---- */

Test(unit_values, amounts_are_added_and_extremes_are_kept)
{
    struct profile_node a = { .elapsed = 10, .flagged = 4, .calls = 2, .shortest = 3, .longest = 5 };
    const struct profile_node b = { .elapsed = 7, .overhead = 1, .calls = 1, .shortest = 2, .longest = 4 };
    struct profile_node none;
    amounts_clear(&none);
    profile_add_values(&a, &b);
    profile_add_values(&a, &none);
    cr_assert(eq(u64, a.elapsed, 17));
    cr_assert(eq(u64, a.flagged, 4));
    cr_assert(eq(u64, a.overhead, 1));
    cr_assert(eq(u64, a.calls, 3));
    cr_assert(eq(u64, a.shortest, 2));
    cr_assert(eq(u64, a.longest, 5));
}

Test(unit_values, what_was_added_since_is_no_more_than_the_time_since)
{
    struct profile_node later = {
        .elapsed = 30, .flagged = 25, .blocked = 9, .preempted = 9, .calls = 5, .longest = 8
    };
    const struct profile_node earlier = { .elapsed = 20, .flagged = 10, .blocked = 2, .preempted = 1, .calls = 6 };
    amounts_subtract(&later, &earlier);
    cr_assert(eq(u64, later.elapsed, 10));
    cr_assert(eq(u64, later.flagged, 10));
    cr_assert(eq(u64, later.blocked, 7));
    cr_assert(eq(u64, later.preempted, 3));
    cr_assert(eq(u64, later.calls, 0));
    cr_assert(later.shortest > later.longest);
}

Test(unit_values, ticks_are_scaled_and_counts_are_not)
{
    struct profile_node node = { .elapsed = 9, .page_faults = 6, .calls = 3, .shortest = UINT64_MAX };
    amounts_scale(&node, 3000000000);
    cr_assert(eq(u64, node.elapsed, 3));
    cr_assert(eq(u64, node.page_faults, 6));
    cr_assert(eq(u64, node.calls, 3));
    cr_assert(eq(u64, node.shortest, UINT64_MAX));
}

/* Without a completed call, the extremes are no times. */
Test(unit_values, times_of_rows_are_scaled)
{
    for (int completed = 0; completed < 2; completed++) {
        struct times t = { .elapsed_inclusive = 9, .blocked_exclusive = 12, .page_faults_inclusive = 6, .calls = 3 };
        t.shortest = completed ? 6 : UINT64_MAX;
        t.longest = completed ? 15 : 3;
        times_scale(&t, 3000000000);
        cr_assert(eq(u64, t.elapsed_inclusive, 3));
        cr_assert(eq(u64, t.blocked_exclusive, 4));
        cr_assert(eq(u64, t.page_faults_inclusive, 6));
        cr_assert(eq(u64, t.calls, 3));
        cr_assert(eq(u64, t.shortest, completed ? 2 : UINT64_MAX));
        cr_assert(eq(u64, t.longest, completed ? 5 : 3));
    }
}

/* ---- on the CPU in flagged intervals ---- */

static struct writer *values_begin(uint32_t source)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, source, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    return w;
}

static void expect_flagged_on_cpu(struct times t, uint64_t inclusive, uint64_t exclusive)
{
    cr_assert(eq(u64, t.flagged_on_cpu_inclusive, inclusive));
    cr_assert(eq(u64, t.flagged_on_cpu_exclusive, exclusive));
}

/* If off-CPU times are in flagged intervals, each tick is in one of four parts. */
static void expect_four_parts(const struct outcome *o)
{
    for (uint32_t i = 0; i < o->profile->node_count; i++) {
        const struct times *t = &o->rollup->nodes[i];
        cr_assert(
            eq(u64, t->elapsed_exclusive,
               t->application_exclusive + t->flagged_on_cpu_exclusive + t->blocked_exclusive + t->preempted_exclusive));
        cr_assert(
            eq(u64, t->elapsed_inclusive,
               t->application_inclusive + t->flagged_on_cpu_inclusive + t->blocked_inclusive + t->preempted_inclusive));
        cr_assert(
            eq(u64, times_value(t, VALUE_CPU, INCLUSIVE), t->application_inclusive + t->flagged_on_cpu_inclusive));
    }
}

Test(unit_values, flagged_on_cpu_is_the_rest_of_flagged_intervals)
{
    struct writer *w = values_begin(SOURCE_PERF);
    write_enter(w, 0, F);
    write_off_cpu(w, false, 10, 30);
    write_enter(w, 100, G); /* F: 100 flagged, 30 of it blocked */
    write_faults(w, 1);
    write_enter(w, 150, G); /* G: 50 flagged */
    write_off_cpu(w, true, 160, 15);
    write_exit(w, 190); /* G: 40 flagged, 15 of it preempted */
    write_exit(w, 200); /* G: 10, not flagged */
    write_os(w);
    write_exit(w, 260); /* F: 60 flagged */
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 260, 160, 10, 0, 1);
    expect_flagged_on_cpu(function_times(&o, F), 205, 130);
    expect_flagged_on_cpu(function_times(&o, G), 75, 75);
    expect_flagged_on_cpu(thread_times(&o, 1), 205, 205);
    expect_flagged_on_cpu(path_times(&o, 1, (uint64_t[]){ F, G, 0 }), 75, 50);
    expect_flagged_on_cpu(path_times(&o, 1, (uint64_t[]){ F, G, G, 0 }), 25, 25);
    cr_assert(eq(u64, o.rollup->session.flagged_on_cpu_inclusive, 205));
    expect_four_parts(&o);
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_values, flagged_on_cpu_without_times_is_the_whole_interval)
{
    struct writer *w = values_begin(SOURCE_RSEQ);
    write_enter(w, 0, F);
    write_os(w);
    write_enter(w, 70, G);
    write_exit(w, 100);
    write_exit(w, 110);
    struct outcome o = outcome_of(w, 1);
    expect_flagged_on_cpu(function_times(&o, F), 70, 70);
    expect_flagged_on_cpu(function_times(&o, G), 0, 0);
    expect_four_parts(&o);
    check_identities(&o);
    outcome_drop(&o);
}

/* The probes' time is subtracted from unflagged time first, and never from off-CPU time. */
Test(unit_values, flagged_on_cpu_is_less_by_the_probes_where_nothing_else_is_left)
{
    struct writer *w = values_begin(SOURCE_PERF);
    write_enter(w, 0, F);
    write_off_cpu(w, false, 10, 40);
    write_exit(w, 100);
    struct outcome o = outcome_of(w, 1);
    expect_flagged_on_cpu(function_times(&o, F), 60, 60);
    const struct probe_cost cost = { 1, 20 * TICK, 0, 0 };
    overhead_subtract(o.profile, &cost, 1, false);
    rollup_free(o.rollup);
    o.rollup = rollup_new(o.profile);
    ASSERT_TIMES(function_times(&o, F), 80, 80, 0, 0, 1);
    expect_flagged_on_cpu(function_times(&o, F), 40, 40);
    expect_four_parts(&o);
    check_identities(&o);
    outcome_drop(&o);
}

/* A call tree can have waits outside its flagged time, such as those of the runtime. Paths do not compensate each
 * other. */
Test(unit_values, flagged_on_cpu_of_each_path_is_at_least_zero)
{
    const struct tree_node nodes[] = {
        { .function = F, .calls = 1, .elapsed = 100, .flagged = 40, .blocked = 10, .preempted = 5 },
        { .function = G, .parent = 1, .calls = 1, .elapsed = 50, .flagged = 10, .blocked = 30 },
    };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_tree(w, 1, 1, nodes, 2);
    struct outcome o = outcome_of(w, 1);
    expect_flagged_on_cpu(function_times(&o, F), 25, 25);
    expect_flagged_on_cpu(function_times(&o, G), 0, 0);
    check_identities(&o);
    outcome_drop(&o);
}

/* However many threads add them up, and in whatever order, errors are rounded once. */
Test(unit_values, errors_in_any_order)
{
    enum { COUNT = 5 };
    const uint64_t errors[COUNT] = { 16, 12, 14, 333, 278 };
    struct times forward = times_of_nothing(), backward = times_of_nothing();
    for (int i = 0; i < COUNT; i++) {
        const struct profile_node one = { .error = errors[i], .site = PROFILE_SAMPLED },
                                  other = { .error = errors[COUNT - 1 - i], .site = PROFILE_SAMPLED };
        const struct times first = times_of_path(&one), last = times_of_path(&other);
        times_add(&forward, &first);
        times_add(&backward, &last);
    }
    /* The root of the sum of their squares is 434.48. */
    cr_assert(eq(u64, times_error(&forward, VALUE_ELAPSED, EXCLUSIVE), 434));
    cr_assert(eq(u64, times_error(&forward, VALUE_ELAPSED, INCLUSIVE), 434));
    cr_assert(eq(u64, times_error(&backward, VALUE_ELAPSED, EXCLUSIVE), 434));
}
