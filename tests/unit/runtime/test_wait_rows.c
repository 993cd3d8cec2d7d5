/* The runtime's sums of waits in mode profile: which waits share a row, the limit, and the calls of holders. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "guard.h"
#include "objects.h"
#include "unit/runtime/runtime_block.h"
#include "wait_sums.h"

TestSuite(unit_runtime_wait_rows);

static void rows_test_add(struct thread *t, uint32_t node, const struct object *object)
{
    wait_rows_add(t, &(struct wait_interval){ node, 100, 200, 10 + node }, object);
}

static struct dwell_wait_row *rows_test_list(const struct thread *t)
{
    return (struct dwell_wait_row *)(t->wait_rows.rows.chunk + 1);
}

Test(unit_runtime_wait_rows, a_row_for_each_path_object_and_holder)
{
    struct thread *t = runtime_block();
    const struct object lock = { .kind = DWELL_OBJECT_MUTEX, .id = 77, .holder = 5, .holder_node = 2 };
    struct object other_holder = lock, other_lock = lock, gave_up = lock, acted = lock;
    other_holder.holder_thread = 9;
    other_lock.id = 78;
    gave_up.role = DWELL_ROLE_GAVE_UP;
    acted.role = DWELL_ROLE_ACTED;
    const struct object *const objects[] = { &lock, &other_holder, &other_lock, &gave_up, NULL };
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 5; i++)
            rows_test_add(t, 1, objects[i]);
        rows_test_add(t, 2, &lock);
    }
    rows_test_add(t, 1, &acted); /* it has waited for something else */
    rows_test_add(t, 0, &lock);  /* outside functions */
    const struct dwell_wait_row *rows = rows_test_list(t);
    for (size_t i = 0; i < 6; i++) {
        cr_assert(eq(u64, rows[i].waits, i == 4 ? 3 : 2), "%zu", i);
        cr_assert(eq(u64, rows[i].blocked, rows[i].waits * rows[i].longest));
        cr_assert(eq(u64, rows[i].longest, 10 + rows[i].node));
    }
    cr_assert(eq(u64, rows[0].id, 77));
    cr_assert(eq(u32, rows[0].holder_node, 2));
    cr_assert(eq(u32, rows[4].kind, 0));
    cr_assert(eq(u32, rows[5].node, 2));
    cr_assert(eq(u64, rows[6].waits, 0));
    cr_assert(eq(u32, t->wait_rows.rows.chunk->kind, DWELL_CHUNK_WAITS));
}

Test(unit_runtime_wait_rows, the_rest_has_one_row)
{
    struct thread *t = runtime_block();
    for (uint32_t i = 1; i <= DWELL_MAX_WAIT_ROWS + 5; i++)
        rows_test_add(t, i, NULL);
    rows_test_add(t, 1, NULL);
    cr_assert(eq(u32, t->wait_rows.rest->node, 0));
    cr_assert(eq(u64, t->wait_rows.rest->waits, 5));
    cr_assert(eq(u64, t->wait_rows.rest->longest, 10 + DWELL_MAX_WAIT_ROWS + 5));
    uint32_t size = 0;
    for (const struct dwell_chunk_header *c = t->wait_rows.rows.chunk; c; c = guard_link(c))
        size += guard_size(c);
    cr_assert(le(u32, size, 2 * DWELL_MAX_WAIT_ROWS * (uint32_t)sizeof(struct dwell_wait_row)));
}

Test(unit_runtime_wait_rows, a_child_has_none)
{
    struct thread *t = runtime_block();
    rows_test_add(t, 1, NULL);
    wait_rows_begin(t);
    cr_assert(zero(ptr, t->wait_rows.rows.chunk));
    rows_test_add(t, 1, NULL);
    cr_assert(eq(u64, rows_test_list(t)[0].waits, 1));
    cr_assert(eq(u32, t->wait_rows.rows.chunk->sequence, 0));
}

Test(unit_runtime_wait_rows, holders)
{
    struct thread *t = runtime_block();
    struct object object = { .kind = DWELL_OBJECT_MUTEX, .holder = 1030 };
    runtime.mode = DWELL_MODE_PROFILE;
    runtime.os_calls = true;
    t->tid = 1030;
    cr_assert(tree_begin(t, 1));
    t->tree.head->top = 4;
    wait_rows_find_holder(&object);
    cr_assert(zero(u32, object.holder_node)); /* not in the process' table */
    runtime.process->threads.by_tid[1030 % THREADS_BY_TID] = t;
    wait_rows_find_holder(&object);
    cr_assert(eq(u32, object.holder_node, 4));
    cr_assert(eq(u32, object.holder_thread, t->serial));
    object = (struct object){ .kind = DWELL_OBJECT_MUTEX, .holder = 1030 + THREADS_BY_TID };
    wait_rows_find_holder(&object);
    cr_assert(zero(u32, object.holder_node));
}
