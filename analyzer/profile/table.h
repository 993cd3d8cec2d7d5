/* An open-addressing index from two numbers to a third, for entries that are never removed. */
#ifndef DWELL_PROFILE_TABLE_H
#define DWELL_PROFILE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct profile_slot {
    uint64_t key;
    uint32_t second;
    uint32_t value_plus_1; /* zero: free */
};

struct profile_table {
    struct profile_slot *slots;
    size_t mask; /* number of slots - 1 */
    size_t used;
};

struct profile_table *table_new(void);
void table_free(struct profile_table *table);

static inline size_t table_hash(uint64_t key, uint32_t second)
{
    uint64_t h = (key ^ (uint64_t)second << 32 ^ second) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return (size_t)(h >> 32 ^ h >> 15);
}

/* The slot that holds the two numbers, or the free one where they belong. Stays valid until the next
 * table_set. */
static inline struct profile_slot *table_find(const struct profile_table *table, uint64_t key, uint32_t second)
{
    size_t at = table_hash(key, second) & table->mask;
    for (;;) {
        struct profile_slot *slot = &table->slots[at];
        if ((slot->key == key && slot->second == second) || !slot->value_plus_1)
            return slot;
        at = (at + 1) & table->mask;
    }
}

/* Fills a free slot that table_find returned. */
void table_set(struct profile_table *table, struct profile_slot *slot, uint64_t key, uint32_t second, uint32_t value);

#endif
