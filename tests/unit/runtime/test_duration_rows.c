/* The runtime's counters of durations in mode profile: which calls share a row, the limit, and what is lost. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "duration_rows.h"
#include "guard.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_duration_rows);

static struct dwell_tree_head rows_head;

static struct thread *rows_block(void)
{
    struct thread *t = runtime_block();
    t->tree.head = &rows_head;
    return t;
}

static struct dwell_tree_node rows_node(uint32_t number)
{
    return (struct dwell_tree_node){ .number = number, .shortest = DURATION_NO_CALL };
}

static const struct dwell_duration_row *rows_list(const struct thread *t)
{
    return (const struct dwell_duration_row *)(t->durations.rows.chunk + 1);
}

/* As docs/format.md says, step by step. */
static uint32_t rows_counter(uint64_t ticks)
{
    uint32_t dropped = 0;
    for (; ticks >= 64; ticks /= 2)
        dropped++;
    return 32 * dropped + (uint32_t)ticks;
}

Test(unit_runtime_duration_rows, counters_are_those_of_the_format)
{
    for (int bit = 0; bit < 62; bit++)
        for (uint64_t part = 0; part < 200; part++) {
            const uint64_t ticks = (UINT64_C(1) << bit) + ((UINT64_C(1) << bit) * part / 200);
            cr_assert(eq(u32, duration_counter(ticks), rows_counter(ticks)), "%ju", (uintmax_t)ticks);
        }
    cr_assert(eq(u32, duration_counter(0), 0));
    cr_assert(lt(u32, duration_counter(DWELL_SHORTEST_LOST - 1), DWELL_DURATION_COUNTERS));
}

Test(unit_runtime_duration_rows, a_row_for_each_path_and_counter)
{
    struct thread *t = rows_block();
    struct dwell_tree_node first = rows_node(1), second = rows_node(2), parent = rows_node(3), plain = rows_node(4);
    static const uint64_t durations[] = { 1000, 1001, 70, 1000, 5000 };
    duration_counts_cost = 7 * DWELL_PROBE_FRACTION;
    for (size_t i = 0; i < 5; i++)
        duration_rows_note(t, &first, durations[i]);
    duration_rows_note(t, &second, 1000);
    duration_counts_note(t, &second, &parent, 995); /* there is a row: as a probe counts it */
    const struct dwell_duration_row *rows = rows_list(t);
    static const uint64_t wanted[][3] = { { 1, 1000, 3 }, { 1, 70, 1 }, { 1, 5000, 1 }, { 2, 1000, 2 } };
    for (size_t i = 0; i < 4; i++) {
        cr_assert(eq(u64, rows[i].node, wanted[i][0]), "%zu", i);
        cr_assert(eq(u64, rows[i].counter, rows_counter(wanted[i][1])), "%zu", i);
        cr_assert(eq(u64, rows[i].calls, wanted[i][2]), "%zu", i);
    }
    cr_assert(eq(u32, rows[4].node, 0));
    cr_assert(eq(u64, first.shortest, DWELL_SHORTEST_COUNTED | 70));
    cr_assert(eq(u64, second.shortest, DWELL_SHORTEST_COUNTED | 995));
    cr_assert(eq(u64, parent.runtime, 7));
    cr_assert(eq(u32, t->durations.rows.chunk->kind, DWELL_CHUNK_DURATIONS));

    plain.shortest = UINT64_MAX;
    duration_counts_note(t, &plain, &parent, 500);
    duration_rows_note(t, &plain, 400);
    cr_assert(eq(u64, plain.shortest, 400));
    cr_assert(eq(u32, rows[4].node, 0));
    duration_counts_cost = 0;
}

/* What is there goes on counting. */
Test(unit_runtime_duration_rows, a_full_table_says_what_is_lost)
{
    struct thread *t = rows_block();
    enum { COUNTERS = 64, NODES = DWELL_MAX_DURATION_ROWS / COUNTERS };
    for (uint32_t n = 1; n <= NODES; n++) {
        struct dwell_tree_node node = rows_node(n);
        for (uint64_t ticks = 0; ticks < COUNTERS; ticks++)
            duration_rows_note(t, &node, ticks);
        cr_assert(eq(u64, node.shortest, DWELL_SHORTEST_COUNTED));
    }
    struct dwell_tree_node known = rows_node(NODES), more = rows_node(NODES + 1);
    duration_rows_note(t, &known, 5);
    duration_rows_note(t, &more, 5);
    cr_assert(eq(u64, known.shortest, DWELL_SHORTEST_COUNTED | 5));
    cr_assert(eq(u64, more.shortest, DWELL_SHORTEST_COUNTED | DWELL_SHORTEST_LOST | 5));
    duration_rows_note(t, &more, 3);
    cr_assert(eq(u64, more.shortest, DWELL_SHORTEST_COUNTED | DWELL_SHORTEST_LOST | 3));
    uint64_t size = 0, calls = 0;
    for (const struct dwell_chunk_header *c = t->durations.rows.chunk; c; c = guard_link(c)) {
        size += guard_size(c);
        const struct dwell_duration_row *row = (const struct dwell_duration_row *)(c + 1);
        for (; (const char *)(row + 1) <= (const char *)c + guard_size(c) && row->node; row++)
            calls += row->calls;
    }
    cr_assert(eq(u64, calls, DWELL_MAX_DURATION_ROWS + 1));
    cr_assert(le(u64, size, 2 * DWELL_MAX_DURATION_ROWS * sizeof(struct dwell_duration_row)));
}

Test(unit_runtime_duration_rows, a_child_has_none)
{
    struct thread *t = rows_block();
    struct dwell_tree_node node = rows_node(1);
    duration_rows_note(t, &node, 10);
    duration_rows_begin(t);
    cr_assert(zero(ptr, t->durations.rows.chunk));
    node.shortest = DURATION_NO_CALL;
    duration_rows_note(t, &node, 10);
    cr_assert(eq(u64, rows_list(t)[0].calls, 1));
    cr_assert(eq(u32, t->durations.rows.chunk->sequence, 0));
    duration_rows_drop_tables(t);
}
