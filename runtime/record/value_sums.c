/* Finds the node of a call's values by the node of its call path and by the values, and makes it. A probe may look for
 * one at any time; nodes are made with signals held back. */
#include "value_sums.h"

#include <string.h>

#include "call.h"
#include "call_tree.h"
#include "grown_table.h"
#include "osevents.h"
#include "own_time.h"
#include "recorder.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

/* ---- the table ---- */

/* Without values, a slot has what a call path has besides. */
struct value_sum {
    uint64_t key; /* zero: the slot is not used; stored last */
    const struct dwell_tree_node *path;
    const uint64_t *words;        /* the row's first word, and its values; NULL for what the path has besides */
    struct dwell_tree_node *node; /* of further values: NULL if there is none yet */
    uint32_t count;               /* of the path's nodes */
};

struct value_sum_table {
    struct grown_table grown;
    struct value_sum slots[];
};

struct value_sum_words {
    struct value_sum_words *before;
    uint32_t used, room; /* words */
    uint64_t words[];
};

enum { FIRST_SLOTS = 128, FIRST_WORDS = 500 };

/* The copies of a function have sites of their own, and the same values. */
static uint64_t value_sum_head(uint64_t first)
{
    return first >> ROW_WORDS_AT;
}

static uint64_t value_sum_mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0xd6e8feb86659fd93u;
    return sum ^ sum >> 32;
}

static uint64_t value_sum_key(const struct dwell_tree_node *path, const struct value_row *row)
{
    uint64_t sum = value_sum_mix(0x9e3779b97f4a7c15u, (uint64_t)path);
    if (row)
        sum = value_sum_mix(sum, value_sum_head(row->first));
    for (uint32_t i = 0; row && i < value_row_words(row->first); i++)
        sum = value_sum_mix(sum, row->words[i]);
    return sum | 1;
}

static bool value_sum_is_of(const struct value_sum *s, const struct dwell_tree_node *path, const struct value_row *row)
{
    if (s->path != path || !s->words != !row)
        return false;
    bool same = !row || value_sum_head(s->words[0]) == value_sum_head(row->first);
    for (uint32_t i = 0; same && row && i < value_row_words(row->first); i++)
        same = s->words[1 + i] == row->words[i];
    return same;
}

/* `row`: NULL for what the path has besides. */
static struct value_sum *value_sum_find(struct value_sum_table *table, const struct dwell_tree_node *path,
                                        const struct value_row *row)
{
    const uint64_t key = value_sum_key(path, row);
    for (uint64_t i = table ? key >> 32 & table->grown.mask : 0; table; i = (i + 1) & table->grown.mask) {
        const uint64_t found = __atomic_load_n(&table->slots[i].key, __ATOMIC_ACQUIRE);
        if (found == key && value_sum_is_of(&table->slots[i], path, row))
            return &table->slots[i];
        if (!found)
            break;
    }
    return NULL;
}

static struct value_sum *value_sum_insert(struct value_sum_table *table, const struct value_sum *from)
{
    uint64_t i = from->key >> 32 & table->grown.mask;
    while (table->slots[i].key)
        i = (i + 1) & table->grown.mask;
    struct value_sum *const slot = &table->slots[i];
    const uint64_t key = from->key;
    *slot = *from;
    slot->key = 0;
    __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
    table->grown.taken++;
    return slot;
}

/* Makes room in the table for two more slots. */
static bool value_sum_grow(struct thread_value_sums *s)
{
    struct value_sum_table *const old = s->table;
    if (old && (old->grown.taken + 1) * 2 < old->grown.mask)
        return true;
    const uint64_t slots = old ? (old->grown.mask + 1) * 2 : FIRST_SLOTS;
    struct value_sum_table *const table = grown_table_make(old ? &old->grown : NULL, slots, sizeof(struct value_sum));
    if (!table)
        return false;
    for (uint64_t i = 0; old && i <= old->grown.mask; i++)
        if (old->slots[i].key)
            value_sum_insert(table, &old->slots[i]);
    __atomic_store_n(&s->table, table, __ATOMIC_RELEASE);
    return true;
}

/* ---- values ---- */

/* NULL if there is no room. */
static const uint64_t *value_sum_keep(struct thread_value_sums *s, const struct value_row *row)
{
    const uint32_t count = 1 + value_row_words(row->first);
    struct value_sum_words *block = s->words;
    if (s->kept_words + count > VALUE_SUMS_WORDS)
        return NULL;
    if (!block || block->room - block->used < count) {
        const uint32_t room = block ? smaller_of(2 * block->room, VALUE_SUMS_WORDS) : FIRST_WORDS;
        block = sys_memory(sizeof *block + room * sizeof *block->words);
        if (!block)
            return NULL;
        block->before = s->words;
        block->room = room;
        s->words = block;
    }
    uint64_t *const words = block->words + block->used;
    words[0] = row->first;
    memcpy(words + 1, row->words, (count - 1) * sizeof *words);
    block->used += count;
    s->kept_words += count;
    return words;
}

/* ---- nodes; signals are held back ---- */

static bool value_sum_is_inner(const struct thread *t, const struct call *call)
{
    for (const struct call *outer = call - 1; outer > (const struct call *)t->shadow; outer--)
        if (outer->function == call->function && outer->node != outer[-1].node)
            return true;
    return false;
}

/* The row has the node's number in place of a time. */
static struct dwell_tree_node *value_sum_node(struct thread *t, const struct dwell_tree_node *path,
                                              struct value_row *row)
{
    struct dwell_tree_node *const node = tree_add_twin(t, path);
    if (node) {
        row->time = node->number;
        value_rows_append(t, row);
    }
    return node;
}

/* What a call path has besides nodes of values. The table has room. */
static struct value_sum *value_sum_rest(struct thread *t, const struct call *call)
{
    struct thread_value_sums *const s = &t->value_sums;
    struct dwell_tree_node *const path = call->node;
    struct value_sum *const found = value_sum_find(s->table, path, NULL);
    if (found)
        return found;
    const bool inner = value_sum_is_inner(t, call);
    return value_sum_insert(s->table, &(struct value_sum){ .key = value_sum_key(path, NULL),
                                                           .path = path,
                                                           .node = inner ? path : NULL,
                                                           .count = inner ? VALUE_SUMS_OF_PATH : 0 });
}

static bool value_sums_are_full(const struct thread_value_sums *s)
{
    return s->nodes == VALUE_SUMS_OF_THREAD;
}

static struct dwell_tree_node *value_sum_add(struct thread *t, struct value_sum *rest, const struct value_row *row)
{
    struct thread_value_sums *const s = &t->value_sums;
    struct value_row copy = *row;
    const uint64_t *const words = value_sum_keep(s, row);
    struct dwell_tree_node *const node = words ? value_sum_node(t, rest->path, &copy) : NULL;
    if (!node) {
        s->nodes = VALUE_SUMS_OF_THREAD;
        return NULL;
    }
    s->nodes++;
    rest->count++;
    value_sum_insert(s->table, &(struct value_sum){ value_sum_key(rest->path, row), rest->path, words, node, 0 });
    return node;
}

/* Returns NULL if there is no room. A handler may have made the node before signals were held back. */
static struct dwell_tree_node *value_sum_make(struct thread *t, const struct call *call, const struct value_row *row)
{
    struct thread_value_sums *const s = &t->value_sums;
    struct value_sum *const known = value_sum_find(s->table, call->node, row);
    if (known)
        return known->node;
    if (!value_sum_grow(s))
        return NULL;
    struct dwell_tree_node *node = NULL;
    struct value_sum *const rest = value_sum_rest(t, call);
    if (rest->count < VALUE_SUMS_OF_PATH && !value_sums_are_full(s))
        node = value_sum_add(t, rest, row);
    if (!node && !rest->node) {
        struct value_row others = { .first = value_row_first(row->first & UINT16_MAX, 0, UINT32_MAX) };
        rest->node = value_sum_node(t, rest->path, &others);
    }
    return node ? node : rest->node;
}

static struct dwell_tree_node *value_sum_make_now(struct thread *t, const struct call *call,
                                                  const struct value_row *row)
{
    const struct own_moment begin = own_now(t);
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return NULL;
    struct dwell_tree_node *const node = t->tree.head ? value_sum_make(t, call, row) : NULL;
    runtime.recorder->add_own_time(t, &begin);
    sys_restore_signals(mask);
    os_forget_own(t);
    return node;
}

/* ---- calls ---- */

/* NULL if there is none yet. */
static struct dwell_tree_node *value_sum_known(const struct thread *t, const struct dwell_tree_node *path,
                                               const struct value_row *row)
{
    struct value_sum_table *const table = __atomic_load_n(&t->value_sums.table, __ATOMIC_ACQUIRE);
    const struct value_sum *found = value_sum_find(table, path, row);
    if (found)
        return found->node;
    found = value_sum_find(table, path, NULL);
    return found && (found->count == VALUE_SUMS_OF_PATH || value_sums_are_full(&t->value_sums)) ? found->node : NULL;
}

/* No time has been added to the call yet. A handler's probe finds the one node or the other. */
void value_sums_enter(struct thread *t, const struct value_row *row)
{
    struct call *const call = thread_call(t, thread_state(t)) - 1;
    struct dwell_tree_node *const path = call->node;
    if (!t->tree.head || path == call[-1].node) /* hidden */
        return;
    struct dwell_tree_node *node = value_sum_known(t, path, row);
    if (UNLIKELY(!node))
        node = value_sum_make_now(t, call, row);
    if (!node || node == path)
        return;
    __atomic_store_n(&call->node, node, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->tree.head->top = node->number;
    sum_add(&node->calls, 1);
    sum_add(&path->calls, UINT64_MAX);
}

/* ---- begin and end ---- */

void value_sums_begin(struct thread *t)
{
    struct thread_value_sums *const s = &t->value_sums;
    *s = (struct thread_value_sums){ .kept = grown_tables_keep(s->table ? &s->table->grown : NULL, s->kept),
                                     .words = s->words };
}

void value_sums_end(struct thread *t)
{
    struct thread_value_sums *const s = &t->value_sums;
    grown_tables_free(s->table ? &s->table->grown : NULL, sizeof(struct value_sum));
    grown_tables_free(s->kept, sizeof(struct value_sum));
    while (s->words) {
        struct value_sum_words *const block = s->words;
        s->words = block->before;
        sys_unmap(block, sizeof *block + block->room * sizeof *block->words);
    }
    *s = (struct thread_value_sums){ .table = NULL };
}
