/* The runtime's call tree in mode profile: its nodes, and how they are found again. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "call_tree.h"
#include "tree_table.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_tree);

/* The node of a new call of that function below the calls that are open. The call stays open. */
static struct dwell_tree_node *tree_test_enter(struct thread *t, uint64_t function, uint64_t call_site, uint64_t now)
{
    struct call *call = runtime_open_call(t, function, call_site);
    call->node = tree_node_of(t, call, now);
    return call->node;
}

static void tree_test_leave(struct thread *t, int calls)
{
    t->state -= (uint64_t)calls * one_call;
}

Test(unit_runtime_tree, begins_with_the_open_calls)
{
    struct thread *t = runtime_block();
    struct call *outer = runtime_open_call(t, 0x100, 0), *inner = runtime_open_call(t, 0x200, 0);
    cr_assert(tree_begin(t, 77));
    cr_assert(eq(u64, t->tree.head->start_time, 77));
    cr_assert(eq(u64, t->tree.head->last_time, 77));
    cr_assert(eq(u32, t->tree.nodes, 2));
    cr_assert(eq(u32, outer->node->number, 1));
    cr_assert(eq(u32, outer->node->parent, 0));
    cr_assert(eq(u32, outer->node->depth, 1));
    cr_assert(eq(u64, outer->node->function, 0x100));
    cr_assert(eq(u32, inner->node->number, 2));
    cr_assert(eq(u32, inner->node->parent, 1));
    cr_assert(eq(u32, inner->node->depth, 2));
    cr_assert(eq(u64, inner->node->shortest, UINT64_MAX));
    cr_assert(eq(u64, inner->node->first_time, 77));
    const struct dwell_chunk_header *chunk = t->tree.chunk;
    cr_assert(eq(u32, chunk->kind, DWELL_CHUNK_CALL_TREE));
    cr_assert(eq(u32, chunk->thread, t->serial));
    cr_assert(eq(u32, chunk->sequence, 0));
}

Test(unit_runtime_tree, a_node_for_each_call_path)
{
    struct thread *t = runtime_block();
    cr_assert(tree_begin(t, 1));
    struct dwell_tree_node *a = tree_test_enter(t, 0x100, 0, 2), *below_a = tree_test_enter(t, 0x200, 0, 3);
    tree_test_leave(t, 2);
    struct dwell_tree_node *b = tree_test_enter(t, 0x300, 0, 4), *below_b = tree_test_enter(t, 0x200, 0, 5);
    tree_test_leave(t, 2);
    cr_assert(ne(ptr, below_a, below_b));
    cr_assert(eq(u32, below_a->parent, a->number));
    cr_assert(eq(u32, below_b->parent, b->number));
    cr_assert(eq(ptr, tree_test_enter(t, 0x100, 0, 6), a));
    cr_assert(eq(ptr, tree_test_enter(t, 0x200, 0, 7), below_a));
    cr_assert(eq(u32, t->tree.nodes, 4));
}

/* More nodes than the first chunk and the first table hold. */
Test(unit_runtime_tree, grows)
{
    enum { NODES = 3000 };
    static struct dwell_tree_node *nodes[NODES];
    struct thread *t = runtime_block();
    cr_assert(tree_begin(t, 1));
    for (uint64_t i = 0; i < NODES; i++) {
        nodes[i] = tree_test_enter(t, 0x1000 + 16 * i, 0, i);
        tree_test_leave(t, 1);
    }
    cr_assert(gt(int, runtime_calls.chunks, 2));
    cr_assert(eq(u32, t->tree.chunk->sequence, (uint32_t)runtime_calls.chunks - 1));
    for (uint64_t i = 0; i < NODES; i++) {
        cr_assert(eq(u32, nodes[i]->number, (uint32_t)i + 1));
        cr_assert(eq(ptr, tree_test_enter(t, 0x1000 + 16 * i, 0, 0), nodes[i]));
        tree_test_leave(t, 1);
    }
    cr_assert(eq(u32, t->tree.nodes, NODES));
    cr_assert(gt(u64, t->tree.table->grown.mask, 2 * NODES));
}

Test(unit_runtime_tree, call_sites_tell_calls_apart)
{
    struct thread *t = runtime_block();
    cr_assert(tree_begin(t, 1));
    struct dwell_tree_node *here = tree_test_enter(t, 0x100, 0x11, 2);
    tree_test_leave(t, 1);
    struct dwell_tree_node *there = tree_test_enter(t, 0x100, 0x22, 3);
    tree_test_leave(t, 1);
    cr_assert(ne(ptr, here, there));
    cr_assert(eq(u64, here->site, 0x11));
    cr_assert(eq(u64, there->site, 0x22));
    cr_assert(eq(u32, here->base, here->number));
    cr_assert(eq(ptr, tree_test_enter(t, 0x100, 0x22, 4), there));
}

/* A function calls itself from two sites. From the second level on, the calls of one function share their callees. */
Test(unit_runtime_tree, recursion_from_two_sites_ends)
{
    struct thread *t = runtime_block();
    cr_assert(tree_begin(t, 1));
    tree_test_enter(t, 0x100, 0x11, 2);
    struct dwell_tree_node *first = tree_test_enter(t, 0x100, 0x11, 3);
    tree_test_leave(t, 1);
    struct dwell_tree_node *other = tree_test_enter(t, 0x100, 0x22, 4), *second = tree_test_enter(t, 0x100, 0x22, 5);
    tree_test_leave(t, 1);
    struct dwell_tree_node *third = tree_test_enter(t, 0x100, 0x11, 6);
    cr_assert(eq(u32, first->base, first->number));
    cr_assert(eq(u32, other->base, other->number));
    cr_assert(eq(u32, second->parent, other->number));
    cr_assert(eq(u32, third->parent, other->number));
    cr_assert(eq(u32, third->base, second->base));
}

Test(unit_runtime_tree, hidden_calls_have_their_callers_node)
{
    struct thread *t = runtime_block();
    filter_settings.depth = 2;
    cr_assert(tree_begin(t, 1));
    tree_test_enter(t, 0x100, 0, 2);
    struct dwell_tree_node *second = tree_test_enter(t, 0x200, 0, 3);
    cr_assert(tree_hides(second, 0x300));
    cr_assert(eq(ptr, tree_test_enter(t, 0x300, 0, 4), second));
    cr_assert(eq(u32, t->tree.nodes, 2));
    tree_test_leave(t, 2);
    filter_settings.only = true;
    cr_assert(eq(u32, tree_test_enter(t, 0x400, 0, 5)->number, 1));
}

/* Another library may lie there now. */
Test(unit_runtime_tree, forgets_what_was_unloaded)
{
    struct thread *t = runtime_block();
    runtime_calls.program_begin = 0x100;
    runtime_calls.program_end = 0x200;
    cr_assert(tree_begin(t, 1));
    struct dwell_tree_node *program = tree_test_enter(t, 0x180, 0, 2);
    tree_test_leave(t, 1);
    struct dwell_tree_node *library = tree_test_enter(t, 0x5000, 0, 3);
    tree_test_leave(t, 1);
    runtime.process->modules.unloads = 9;
    tree_forget_unloaded(t);
    cr_assert(eq(u32, t->tree.seen_unloads, 9));
    cr_assert(eq(ptr, tree_test_enter(t, 0x180, 0, 4), program));
    tree_test_leave(t, 1);
    struct dwell_tree_node *again = tree_test_enter(t, 0x5000, 0, 5);
    cr_assert(ne(ptr, again, library));
    cr_assert(eq(u64, again->first_time, 5));
}

Test(unit_runtime_tree, counts_enters_and_exits)
{
    struct thread *t = runtime_block();
    cr_assert(tree_begin(t, 1));
    struct dwell_tree_node *caller = tree_test_enter(t, 0x100, 0, 100), *callee = tree_test_enter(t, 0x200, 0, 130);
    tree_count_enter(t, 100, 130, caller, callee);
    tree_count_exit(t, 130, 190, callee, caller, 60, false);
    tree_count_enter(t, 190, 200, caller, callee);
    tree_count_exit(t, 200, 220, callee, caller, 20, true);
    cr_assert(eq(u64, caller->elapsed, 30 + 10));
    cr_assert(eq(u64, caller->calls, 0));
    cr_assert(eq(u64, callee->elapsed, 60 + 20));
    cr_assert(eq(u64, callee->calls, 2));
    cr_assert(eq(u64, callee->shortest, 20));
    cr_assert(eq(u64, callee->longest, 60));
    cr_assert(eq(u64, callee->flagged, 20));
    cr_assert(eq(u64, callee->flagged_intervals, 1));
    cr_assert(eq(u64, callee->os_events, 1));
    cr_assert(eq(u64, t->last, 220));
    cr_assert(eq(u32, t->tree.head->top, caller->number));
    tree_count_exit(t, 220, 225, callee, callee, 5, true); /* a hidden call */
    cr_assert(eq(u64, callee->elapsed, 85));
    cr_assert(eq(u64, callee->shortest, 20));
    cr_assert(eq(u64, callee->flagged, 25));
}
