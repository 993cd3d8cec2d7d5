/*
 * Sums of waits in mode profile. Each thread has rows, in chunks of the session file, and a table that finds a row by
 * its call path, object and holder. The number of rows is limited; further waits are added to one row.
 */
#include "wait_sums.h"

#include "objects.h"
#include "process.h"
#include "process_lock.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

/* ---- rows ---- */

/* The row is in the file once its number of waits is not zero. */
static struct dwell_wait_row *wait_rows_make(struct thread *t, const struct dwell_wait_row *key)
{
    struct dwell_wait_row *row = row_chunks_make(t, &t->wait_rows.rows, DWELL_CHUNK_WAITS, sizeof *row);
    if (row)
        *row = *key;
    return row;
}

static struct dwell_wait_row *wait_rows_rest(struct thread *t, uint64_t begin)
{
    if (!t->wait_rows.rest)
        t->wait_rows.rest = wait_rows_make(t, &(struct dwell_wait_row){ .first_time = begin });
    return t->wait_rows.rest;
}

static bool wait_rows_are_same(const struct dwell_wait_row *a, const struct dwell_wait_row *b)
{
    return a->node == b->node && a->kind == b->kind && a->role == b->role && a->id == b->id && a->holder == b->holder &&
           a->holder_node == b->holder_node;
}

static uint64_t wait_rows_hash(const struct dwell_wait_row *key)
{
    const uint64_t multiplier = 0x9e3779b97f4a7c15u;
    uint64_t hash = ((uint64_t)key->node << 16 | (uint64_t)key->kind << 8 | key->role) * multiplier;
    hash = (hash ^ hash >> 29 ^ key->id) * multiplier;
    hash = (hash ^ hash >> 29 ^ ((uint64_t)key->holder << 32 | key->holder_node)) * multiplier;
    return hash >> 32;
}

/* The slot of the row, or an empty one. */
static struct wait_slot *wait_rows_slot(const struct thread_wait_rows *w, const struct dwell_wait_row *key,
                                        uint64_t holder_thread)
{
    uint64_t i = wait_rows_hash(key) % w->slot_count;
    while (w->slots[i].row && (w->slots[i].holder_thread != holder_thread || !wait_rows_are_same(w->slots[i].row, key)))
        i = (i + 1) % w->slot_count;
    return &w->slots[i];
}

static void wait_rows_unmap_slots(const struct thread_wait_rows *w)
{
    if (w->slots && w->slots != w->first)
        sys_unmap(w->slots, w->slot_count * sizeof *w->slots);
}

/* Makes room for another row. False without memory, or if there are as many as there may be. */
static bool wait_rows_make_room(struct thread_wait_rows *w)
{
    if (2 * w->taken < w->slot_count)
        return true;
    const uint32_t count = 2 * w->slot_count;
    struct thread_wait_rows grown = *w;
    grown.slots = w->taken < DWELL_MAX_WAIT_ROWS ? sys_memory(count * sizeof *grown.slots) : NULL;
    grown.slot_count = count;
    if (!grown.slots)
        return false;
    for (uint32_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].row)
            *wait_rows_slot(&grown, w->slots[i].row, w->slots[i].holder_thread) = w->slots[i];
    wait_rows_unmap_slots(w);
    w->slots = grown.slots;
    w->slot_count = count;
    return true;
}

static struct dwell_wait_row *wait_rows_find(struct thread *t, const struct dwell_wait_row *key, uint64_t holder_thread)
{
    struct thread_wait_rows *w = &t->wait_rows;
    struct wait_slot *slot = wait_rows_slot(w, key, holder_thread);
    if (slot->row)
        return slot->row;
    if (!wait_rows_make_room(w))
        return wait_rows_rest(t, key->first_time);
    struct dwell_wait_row *row = wait_rows_make(t, key);
    if (row) {
        *wait_rows_slot(w, key, holder_thread) = (struct wait_slot){ row, holder_thread };
        w->taken++;
    }
    return row;
}

/* The number comes last: a row with waits is whole. */
static void wait_rows_count(struct dwell_wait_row *row, const struct wait_interval *interval)
{
    row->blocked += interval->blocked;
    if (interval->blocked > row->longest)
        row->longest = interval->blocked;
    row->last_time = interval->end;
    __atomic_store_n(&row->waits, row->waits + 1, __ATOMIC_RELEASE);
}

static bool wait_rows_is_waited_for(const struct object *object)
{
    return object && (object->role == DWELL_ROLE_WAITED || object->role == DWELL_ROLE_WAITED_FOR_ROOM ||
                      object->role == DWELL_ROLE_GAVE_UP);
}

void wait_rows_add(struct thread *t, const struct wait_interval *interval, const struct object *object)
{
    struct dwell_wait_row key = { .node = interval->node, .first_time = interval->begin };
    uint64_t holder_thread = 0;
    if (!interval->node)
        return;
    if (!t->wait_rows.slots) {
        t->wait_rows.slots = t->wait_rows.first;
        t->wait_rows.slot_count = FIRST_WAIT_SLOTS;
    }
    if (wait_rows_is_waited_for(object)) {
        key.kind = (uint8_t)object->kind;
        key.role = (uint8_t)object->role;
        key.id = object->id;
        key.holder = object->holder;
        key.holder_node = object->holder_node;
        holder_thread = object->holder_thread;
    }
    struct dwell_wait_row *row = wait_rows_find(t, &key, holder_thread);
    if (row)
        wait_rows_count(row, interval);
}

/* ---- begin and end ---- */

static void wait_rows_drop_slots(struct thread *t)
{
    wait_rows_unmap_slots(&t->wait_rows);
    t->wait_rows = (struct thread_wait_rows){ .slots = NULL };
}

void wait_rows_begin(struct thread *t)
{
    wait_rows_drop_slots(t);
}

void wait_rows_end(struct thread *t)
{
    row_chunks_end(&t->wait_rows.rows);
    wait_rows_drop_slots(t);
}

/* ---- holders ---- */

/* The process' lock keeps the holder's tree mapped. */
void wait_rows_find_holder(struct object *object)
{
    if (!object->holder || runtime.mode != DWELL_MODE_PROFILE || !runtime.os_calls)
        return;
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return;
    process_lock();
    const struct thread *t = runtime.process->threads.by_tid[object->holder % THREADS_BY_TID];
    if (t && t->tid == object->holder && t->tree.head) {
        object->holder_thread = t->serial;
        object->holder_node = __atomic_load_n(&t->tree.head->top, __ATOMIC_RELAXED);
    }
    process_unlock();
    sys_restore_signals(mask);
}
