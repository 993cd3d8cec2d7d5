/*
 * A hash table with open addressing, from two numbers to a third. Single entries are never removed. The hash has seeds
 * that are random in each process, since a hostile file could otherwise give all entries one place. So nothing may
 * depend on the order of the places.
 */
#ifndef DWELL_BASE_INDEX_H
#define DWELL_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/wide.h"

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

/* Removes all entries, and keeps the memory for others. */
void index_clear(struct number_index *table);

extern uint64_t index_seeds[2];

/* The two halves of the product of both numbers, added without carry. */
static inline uint64_t index_fold(uint64_t a, uint64_t b)
{
    const uint128 product = (uint128)a * b;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline size_t index_hash(uint64_t key, uint32_t second)
{
    return (size_t)index_fold(key ^ index_seeds[0], second ^ index_seeds[1]);
}

/* A key for bytes. Different bytes can have the same key, but no file can arrange it. */
uint64_t index_bytes_key(const void *bytes, size_t length);

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
