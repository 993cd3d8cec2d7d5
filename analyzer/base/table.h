/* An open-addressing index from two numbers to a third, for entries that are never removed. */
#ifndef DWELL_BASE_TABLE_H
#define DWELL_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_slot {
    uint64_t key;
    uint32_t second;
    uint32_t value_plus_1; /* zero: free */
};

struct table_index {
    struct table_slot *slots;
    size_t mask; /* number of slots - 1 */
    size_t used;
};

struct table_index *table_new(void);
void table_free(struct table_index *table);

static inline size_t table_hash(uint64_t key, uint32_t second)
{
    uint64_t h = (key ^ (uint64_t)second << 32 ^ second) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return (size_t)(h >> 32 ^ h >> 15);
}

/* The slot that holds the two numbers, or the free one where they belong. Stays valid until the next
 * table_set. */
static inline struct table_slot *table_find(const struct table_index *table, uint64_t key, uint32_t second)
{
    size_t at = table_hash(key, second) & table->mask;
    for (;;) {
        struct table_slot *slot = &table->slots[at];
        if ((slot->key == key && slot->second == second) || !slot->value_plus_1)
            return slot;
        at = (at + 1) & table->mask;
    }
}

/* Fills a free slot that table_find returned. */
void table_set(struct table_index *table, struct table_slot *slot, uint64_t key, uint32_t second, uint32_t value);

#endif
