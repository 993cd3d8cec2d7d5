/* The runtime's nodes of calls with different values, in mode profile: which calls share one, and the limits. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "call_tree.h"
#include "unit/runtime/runtime_block.h"
#include "value_sums.h"

TestSuite(unit_runtime_value_sums);

static void sums_add_own_time(struct thread *t, const struct own_moment *begin)
{
    (void)t, (void)begin;
}

static const struct recorder sums_recorder = { .add_own_time = sums_add_own_time };

static struct thread *sums_block(void)
{
    struct thread *t = runtime_block();
    static uint64_t no_events[2];
    runtime.recorder = &sums_recorder;
    t->os.word = (void *)no_events;
    cr_assert(tree_begin(t, 1));
    return t;
}

static struct value_row sums_row(uint16_t site, uint64_t value)
{
    return (struct value_row){ .first = value_row_first(site, 1, 0), .words = { value } };
}

/* The node of a call of that function with a value. The call stays open. */
static struct dwell_tree_node *sums_enter(struct thread *t, uint64_t function, uint64_t value)
{
    struct call *call = runtime_open_call(t, function, 0);
    const struct value_row row = sums_row(2, value);
    call->node = tree_node_of(t, call, 5);
    call->node->calls++;
    value_sums_enter(t, &row);
    return call->node;
}

static void sums_leave(struct thread *t, int calls)
{
    t->state -= (uint64_t)calls * one_call;
}

static struct dwell_tree_node *sums_call(struct thread *t, uint64_t function, uint64_t value)
{
    struct dwell_tree_node *node = sums_enter(t, function, value);
    sums_leave(t, 1);
    return node;
}

Test(unit_runtime_value_sums, a_node_for_each_value)
{
    struct thread *t = sums_block();
    struct dwell_tree_node *one = sums_call(t, 0x100, 1), *two = sums_call(t, 0x100, 2);
    cr_assert(ne(ptr, one, two));
    cr_assert(eq(ptr, sums_call(t, 0x100, 1), one));
    cr_assert(eq(u64, one->calls, 2));
    cr_assert(eq(u64, two->calls, 1));
    cr_assert(eq(u64, one->function, 0x100));
    cr_assert(eq(u32, one->parent, 0));
    cr_assert(eq(u32, one->depth, 1));
    cr_assert(eq(sz, runtime_calls.rows, 2));
    cr_assert(eq(u64, runtime_rows[0]->time, one->number));
    cr_assert(eq(u64, runtime_rows[0]->words[0], 1));
    cr_assert(eq(u64, runtime_rows[1]->time, two->number));
    /* What is called has a node below each. */
    sums_enter(t, 0x100, 2);
    cr_assert(eq(u32, t->tree.head->top, two->number));
    cr_assert(eq(u32, sums_call(t, 0x200, 1)->parent, two->number));
    sums_leave(t, 1);
    sums_enter(t, 0x100, 1);
    cr_assert(eq(u32, sums_call(t, 0x200, 1)->parent, one->number));
}

/* Copies of the code have sites of their own. Different words are different values. */
Test(unit_runtime_value_sums, values_are_told_apart_by_their_words)
{
    struct thread *t = sums_block();
    static const struct {
        uint64_t first, words[2];
        int node;
    } rows[] = {
        { 0, { 7, 8 }, 0 }, { 9, { 7, 8 }, 0 }, { 0, { 7, 9 }, 1 }, { 0, { 8, 7 }, 2 }, { 0, { 0, 0 }, 3 },
    };
    const struct dwell_tree_node *nodes[4] = { NULL };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct call *call = runtime_open_call(t, 0x100, 0);
        struct value_row row = { .first = value_row_first(rows[i].first, 2, 0) };
        memcpy(row.words, rows[i].words, sizeof rows[i].words);
        call->node = tree_node_of(t, call, 5);
        value_sums_enter(t, &row);
        if (!nodes[rows[i].node])
            nodes[rows[i].node] = call->node;
        cr_assert(eq(ptr, (void *)call->node, (void *)nodes[rows[i].node]), "%zu", i);
        sums_leave(t, 1);
    }
    /* What could not be read is none of them. */
    struct call *call = runtime_open_call(t, 0x100, 0);
    call->node = tree_node_of(t, call, 5);
    value_sums_enter(t, &(struct value_row){ .first = value_row_first(0, 0, 3) });
    for (size_t i = 0; i < 4; i++)
        cr_assert(ne(ptr, (void *)call->node, (void *)nodes[i]));
}

Test(unit_runtime_value_sums, inner_calls_belong_to_the_outermost_one)
{
    struct thread *t = sums_block();
    struct dwell_tree_node *outer = sums_enter(t, 0x100, 9);
    sums_enter(t, 0x200, 1);
    struct dwell_tree_node *inner = sums_enter(t, 0x100, 8), *other = sums_enter(t, 0x100, 7);
    cr_assert(eq(sz, runtime_calls.rows, 2)); /* of 0x100 and of 0x200 */
    cr_assert(eq(u32, other->parent, inner->number));
    cr_assert(eq(u64, inner->calls, 1));
    cr_assert(ne(ptr, inner, outer));
}

Test(unit_runtime_value_sums, a_path_has_so_many)
{
    struct thread *t = sums_block();
    struct dwell_tree_node *first = sums_call(t, 0x100, 0), *last = NULL, *others = NULL;
    for (uint64_t i = 1; i < VALUE_SUMS_OF_PATH; i++)
        last = sums_call(t, 0x100, i);
    for (uint64_t i = 0; i < 1000; i++) {
        struct dwell_tree_node *node = sums_call(t, 0x100, VALUE_SUMS_OF_PATH + i);
        others = others ? others : node;
        cr_assert(eq(ptr, node, others));
    }
    cr_assert(eq(u64, others->calls, 1000));
    cr_assert(eq(ptr, sums_call(t, 0x100, 0), first));
    cr_assert(eq(ptr, sums_call(t, 0x100, VALUE_SUMS_OF_PATH - 1), last));
    cr_assert(eq(sz, runtime_calls.rows, VALUE_SUMS_OF_PATH + 1));
    const struct value_row *row = runtime_rows[VALUE_SUMS_OF_PATH];
    cr_assert(eq(u64, row->time, others->number));
    cr_assert(eq(u64, row->first >> ROW_UNREAD_AT & DWELL_VALUES_OTHERS, DWELL_VALUES_OTHERS));
    cr_assert(eq(u32, value_row_words(row->first), 0));
    cr_assert(ne(ptr, sums_call(t, 0x300, 0), others)); /* another path has its own */
}

/* Values of one thread, on many paths, or in long texts. */
Test(unit_runtime_value_sums, a_thread_has_so_many)
{
    struct thread *t = sums_block();
    enum { PATHS = VALUE_SUMS_OF_THREAD / 16 };
    for (uint64_t f = 1; f <= PATHS; f++)
        for (uint64_t i = 0; i < 16; i++)
            cr_assert(eq(u64, sums_call(t, f * 16, i)->calls, 1));
    cr_assert(eq(sz, runtime_calls.rows, VALUE_SUMS_OF_THREAD));
    struct dwell_tree_node *others = sums_call(t, 16, 16);
    cr_assert(eq(ptr, sums_call(t, 16, 17), others));
    cr_assert(eq(u64, sums_call(t, 16, 3)->calls, 2));
    cr_assert(eq(ptr, sums_call(t, 16, 18), others));
    cr_assert(eq(u64, others->calls, 3));
    cr_assert(eq(sz, runtime_calls.rows, VALUE_SUMS_OF_THREAD + 1));
}

Test(unit_runtime_value_sums, a_child_has_none)
{
    struct thread *t = sums_block();
    sums_enter(t, 0x100, 1);
    cr_assert(tree_begin(t, 9));
    const struct call *open = thread_call(t, t->state) - 1;
    cr_assert(eq(u32, open->node->number, 1));
    cr_assert(eq(u64, open->node->calls, 0));
    sums_leave(t, 1);
    struct dwell_tree_node *one = sums_call(t, 0x100, 1);
    cr_assert(eq(u64, one->calls, 1));
    cr_assert(eq(u32, one->number, 2));
    cr_assert(eq(sz, runtime_calls.rows, 2));
    tree_end(t);
    cr_assert(zero(ptr, t->value_sums.table));
    cr_assert(zero(ptr, t->value_sums.kept));
    cr_assert(zero(ptr, t->value_sums.words));
}
