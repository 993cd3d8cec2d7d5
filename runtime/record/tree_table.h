/* For tree.c: where a node is found by its parent, its function, and its site where these are recorded. */
#ifndef DWELL_TREE_TABLE_H
#define DWELL_TREE_TABLE_H

#include "call_tree.h"
#include "duration_counts.h"
#include "filter.h"
#include "grown_table.h"
#include "sys.h"
#include "thread.h"

/* A key that is not zero means that the node is there: it is stored last. Different nodes may have the same key. */
struct tree_slot {
    uint64_t key;
    struct dwell_tree_node *node;
};

/* Nodes are looked for from the slot on that their key names, up to an empty one. */
struct tree_table {
    struct grown_table grown;
    struct tree_slot slots[];
};

/* `call_site`: of the call; zero where these are not recorded. */
static inline uint64_t tree_key(uint32_t parent, uint64_t function, uint64_t call_site)
{
    return ((function + (uint64_t)parent * 0x9e3779b97f4a7c15u + call_site * 0xa24baed4963ee407u) *
            0xd6e8feb86659fd93u) |
           1;
}

static inline uint64_t tree_first_slot(const struct tree_table *table, uint64_t key)
{
    return key >> 32 & table->grown.mask;
}

/* Returns NULL if there is no such node yet. */
static ALWAYS_INLINE struct dwell_tree_node *tree_find_node(const struct tree_table *table, uint32_t parent,
                                                            uint64_t function, uint64_t call_site, bool sites)
{
    const uint64_t key = tree_key(parent, function, call_site);
    for (uint64_t i = tree_first_slot(table, key);; i = (i + 1) & table->grown.mask) {
        const struct tree_slot *slot = &table->slots[i];
        const uint64_t found = *(const volatile uint64_t *)&slot->key;
        if (found == key && LIKELY(slot->node->function == function && slot->node->parent == parent &&
                                   (!sites || slot->node->site == call_site)))
            return slot->node;
        if (!found)
            return NULL;
    }
}

static inline struct tree_table *tree_new_table(struct tree_table *older, uint64_t slots)
{
    return grown_table_make(older ? &older->grown : NULL, slots, sizeof(struct tree_slot));
}

static inline void tree_free_tables(struct tree_table *table)
{
    grown_tables_free(table ? &table->grown : NULL, sizeof(struct tree_slot));
}

static inline void tree_insert(struct tree_table *table, uint64_t key, struct dwell_tree_node *node)
{
    uint64_t i = tree_first_slot(table, key);
    while (table->slots[i].key)
        i = (i + 1) & table->grown.mask;
    table->slots[i].node = node;
    __atomic_store_n(&table->slots[i].key, key, __ATOMIC_RELEASE);
    table->grown.taken++;
}

/* ---- sums ---- */

/* Whether filters hide the function below `parent`. A hidden call has its caller's node. Functions that do more than
 * hide have no node: they take the slow path. */
static inline bool tree_hides(const struct dwell_tree_node *parent, uint64_t function)
{
    const uint32_t action = filter_action(function);
    return (action & ~(uint32_t)DWELL_FILTER_ROOT) == DWELL_FILTER_SUPPRESS || parent->depth >= filter_settings.depth ||
           (filter_is_outside(parent->depth, action) && !(action & ~(uint32_t)FILTER_FAST));
}

/* Any duration is below the `shortest` of a node whose durations are counted, so other nodes pay nothing for these. */
static ALWAYS_INLINE void tree_note_duration(struct thread *t, struct dwell_tree_node *node,
                                             struct dwell_tree_node *parent, uint64_t duration)
{
    if (duration > node->longest)
        node->longest = duration;
    if (UNLIKELY(duration < node->shortest))
        duration_counts_note(t, node, parent, duration);
}

static inline void tree_note_last(struct thread *t, uint64_t now, const struct dwell_tree_node *top)
{
    t->last = now;
    t->tree.head->last_time = now;
    t->tree.head->top = top->number;
}

/* After the claim of an enter: the low half of `state` is the time of the event before. */
static ALWAYS_INLINE void tree_count_enter(struct thread *t, uint64_t state, uint64_t now,
                                           struct dwell_tree_node *parent, struct dwell_tree_node *node)
{
    sum_add(&parent->elapsed, (uint32_t)now - (uint32_t)state);
    if (LIKELY(node != parent))
        sum_add(&node->calls, 1);
    tree_note_last(t, now, node);
}

/* After the claim of an exit. `flagged`: the operating system intervened. */
static ALWAYS_INLINE void tree_count_exit(struct thread *t, uint64_t state, uint64_t now, struct dwell_tree_node *node,
                                          struct dwell_tree_node *parent, uint64_t duration, bool flagged)
{
    const uint32_t passed = (uint32_t)now - (uint32_t)state;
    sum_add(&node->elapsed, passed);
    if (flagged) {
        sum_add(&node->flagged, passed);
        sum_add(&node->flagged_intervals, 1);
        sum_add(&node->os_events, 1);
    }
    tree_note_last(t, now, parent);
    if (LIKELY(node != parent)) /* else it is hidden */
        tree_note_duration(t, node, parent, duration);
}

#endif
