/* Makes rows of counters in durations chunks, and the table that finds them. */
#include "duration_rows.h"

#include "osevents.h"
#include "own_time.h"
#include "recorder.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

enum { FIRST_SLOTS = 256 };

static void duration_insert(struct duration_table *table, uint64_t key, uint64_t *calls)
{
    uint64_t i = duration_first_slot(table, key);
    while (table->slots[i].key)
        i = (i + 1) & table->grown.mask;
    table->slots[i].calls = calls;
    __atomic_store_n(&table->slots[i].key, key, __ATOMIC_RELEASE);
    table->grown.taken++;
}

/* Makes room in the table for another row. */
static bool duration_grow_table(struct thread_durations *d)
{
    struct duration_table *const old = d->table;
    if (old && old->grown.taken * 2 < old->grown.mask)
        return true;
    const uint64_t slots = old ? (old->grown.mask + 1) * 2 : FIRST_SLOTS;
    struct duration_table *const table =
        grown_table_make(old ? &old->grown : NULL, slots, sizeof(struct duration_slot));
    if (!table)
        return false;
    for (uint64_t i = 0; old && i <= old->grown.mask; i++)
        if (old->slots[i].key)
            duration_insert(table, old->slots[i].key, old->slots[i].calls);
    __atomic_store_n(&d->table, table, __ATOMIC_RELEASE);
    return true;
}

static bool duration_has_room(struct thread_durations *d)
{
    return (!d->table || d->table->grown.taken < DWELL_MAX_DURATION_ROWS) && duration_grow_table(d);
}

/* The row's node is stored last: a row that has one is whole, and has its first call. */
static bool duration_make_row(struct thread *t, const struct dwell_tree_node *node, uint32_t counter)
{
    struct thread_durations *const d = &t->durations;
    struct dwell_duration_row *const row =
        duration_has_room(d) ? row_chunks_make(t, &d->rows, DWELL_CHUNK_DURATIONS, sizeof *row) : NULL;
    if (!row)
        return false;
    row->counter = counter;
    row->calls = 1;
    __atomic_store_n(&row->node, node->number, __ATOMIC_RELEASE);
    duration_insert(d->table, duration_key(node, counter), &row->calls);
    return true;
}

/* Signals are held back. A handler may have made the row before that. */
static void duration_add(struct thread *t, struct dwell_tree_node *node, uint64_t duration)
{
    const uint32_t counter = duration_counter(duration);
    uint64_t *const calls = duration_find(t->durations.table, duration_key(node, counter));
    if (calls)
        sum_add(calls, 1);
    else if (!t->tree.head || !duration_make_row(t, node, counter))
        __atomic_fetch_or(&node->shortest, DWELL_SHORTEST_LOST, __ATOMIC_RELAXED);
}

void duration_rows_add_first(struct thread *t, struct dwell_tree_node *node, uint64_t duration)
{
    const struct own_moment begin = own_now(t);
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        __atomic_fetch_or(&node->shortest, DWELL_SHORTEST_LOST, __ATOMIC_RELAXED);
        return;
    }
    duration_add(t, node, duration);
    runtime.recorder->add_own_time(t, &begin);
    sys_restore_signals(mask);
    os_forget_own(t);
}

void duration_rows_note(struct thread *t, struct dwell_tree_node *node, uint64_t duration)
{
    if (!duration_counts_are_kept(node)) {
        node->shortest = duration;
        return;
    }
    duration_lower_shortest(node, duration);
    duration_add(t, node, duration);
}

bool duration_rows_add_known(struct thread *t, const struct dwell_tree_node *node, uint64_t duration, uint64_t *calls)
{
    if (!duration_grow_table(&t->durations))
        return false;
    duration_insert(t->durations.table, duration_key(node, duration_counter(duration)), calls);
    return true;
}

/* ---- begin and end ---- */

void duration_rows_begin(struct thread *t)
{
    struct thread_durations *const d = &t->durations;
    *d = (struct thread_durations){ .kept = grown_tables_keep(d->table ? &d->table->grown : NULL, d->kept) };
}

void duration_rows_drop_tables(struct thread *t)
{
    grown_tables_free(t->durations.table ? &t->durations.table->grown : NULL, sizeof(struct duration_slot));
    grown_tables_free(t->durations.kept, sizeof(struct duration_slot));
    t->durations = (struct thread_durations){ .table = NULL };
}

void duration_rows_end(struct thread *t)
{
    row_chunks_end(&t->durations.rows);
    duration_rows_drop_tables(t);
}
