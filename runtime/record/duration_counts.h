/*
 * How long the calls of chosen functions took, in mode profile (--histogram). A counter of the session file belongs to
 * a node and to a range of durations (dwell/format_sums.h). A table of the thread finds the counter of a call that
 * ends. The node's `shortest` says whether its durations are counted (DWELL_SHORTEST_COUNTED).
 */
#ifndef DWELL_DURATION_COUNTS_H
#define DWELL_DURATION_COUNTS_H

#include "common.h"
#include "dwell/format.h"
#include "dwell/format_sums.h"
#include "grown_table.h"
#include "row_chunks.h"

#pragma GCC visibility push(hidden)

struct thread;

struct duration_slot {
    uint64_t key;    /* zero: the slot is not used; stored last */
    uint64_t *calls; /* of the row */
};

struct duration_table {
    struct grown_table grown;
    struct duration_slot slots[];
};

/* In a thread's block. */
struct thread_durations {
    struct duration_table *table; /* NULL if there is none yet */
    struct grown_table *kept;     /* those of a tree from before a fork */
    struct row_chunks rows;
};

/* What counting a duration takes, in 1/256 ticks. calibrate.c measures it. */
extern uint32_t duration_counts_cost;

static inline bool duration_counts_are_kept(const struct dwell_tree_node *node)
{
    return node->shortest >> 63 && node->shortest != UINT64_MAX;
}

/* The `shortest` of such a node before its first call has ended. */
#define DURATION_NO_CALL (DWELL_SHORTEST_COUNTED | (DWELL_SHORTEST_LOST - 1))

/* A handler's probe may lower the limit at any time. */
static inline void duration_lower_shortest(struct dwell_tree_node *node, uint64_t duration)
{
    const uint64_t bits = DWELL_SHORTEST_COUNTED | DWELL_SHORTEST_LOST;
    uint64_t known = __atomic_load_n(&node->shortest, __ATOMIC_RELAXED);
    while (duration < (known & ~bits) &&
           !__atomic_compare_exchange_n(&node->shortest, &known, (known & bits) | duration, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
}

/* The number of a duration's counter, as in dwell_duration_row. */
static inline uint32_t duration_counter(uint64_t ticks)
{
    const int bits = 64 - __builtin_clzll(ticks | 1), dropped = bits > 6 ? bits - 6 : 0;
    return (uint32_t)dropped * 32 + (uint32_t)(ticks >> dropped);
}

static inline uint64_t duration_key(const struct dwell_tree_node *node, uint32_t counter)
{
    return (uint64_t)node->number << 32 | counter;
}

/* Neighbours have neighbouring slots, of which a few cache lines hold all that are usual. */
static inline uint64_t duration_first_slot(const struct duration_table *table, uint64_t key)
{
    return (((key >> 32) * 0x9e3779b97f4a7c15u >> 32) + (uint32_t)key) & table->grown.mask;
}

/* The number of calls of a row. NULL if there is no such row. */
static inline uint64_t *duration_find(const struct duration_table *table, uint64_t key)
{
    for (uint64_t i = table ? duration_first_slot(table, key) : 0; table; i = (i + 1) & table->grown.mask) {
        const uint64_t found = *(const volatile uint64_t *)&table->slots[i].key;
        if (found == key)
            return table->slots[i].calls;
        if (!found)
            break;
    }
    return NULL;
}

/* The `shortest` that the node of a function begins with. */
uint64_t duration_counts_begin(uint64_t function);

/* A call of the node has ended whose duration is less than the node's `shortest`: notes that, or counts it. Signals
 * need not be held back; the call counts as ended before. */
void duration_counts_note(struct thread *t, struct dwell_tree_node *node, struct dwell_tree_node *parent,
                          uint64_t duration);

#pragma GCC visibility pop

#endif
