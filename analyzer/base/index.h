/* A hash table with open addressing, from two numbers to a third. Entries are never removed. */
#ifndef DWELL_BASE_INDEX_H
#define DWELL_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct index_slot {
    uint64_t key;
    uint32_t second;
    uint32_t value_plus_1; /* zero if the slot is free */
};

struct number_index {
    struct index_slot *slots;
    size_t mask; /* number of slots - 1 */
    size_t used;
};

struct number_index *index_new(void);
void index_free(struct number_index *table);

static inline size_t index_hash(uint64_t key, uint32_t second)
{
    uint64_t h = (key ^ (uint64_t)second << 32 ^ second) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return (size_t)(h >> 32 ^ h >> 15);
}

/* The slot of the two numbers, or the free slot for them. Valid until the next index_set. */
static inline struct index_slot *index_find(const struct number_index *table, uint64_t key, uint32_t second)
{
    size_t at = index_hash(key, second) & table->mask;
    for (;;) {
        struct index_slot *slot = &table->slots[at];
        if ((slot->key == key && slot->second == second) || !slot->value_plus_1)
            return slot;
        at = (at + 1) & table->mask;
    }
}

/* Fills a free slot that index_find returned. */
void index_set(struct number_index *table, struct index_slot *slot, uint64_t key, uint32_t second, uint32_t value);

#endif
