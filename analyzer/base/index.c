/* A hash table from two numbers to a third: its seeds, growing and filling it. */
#include "base/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/memory.h"

enum { FIRST_SLOTS = 256 };

uint64_t index_seeds[2] = { 0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu };

/* Without random bytes, the seeds stay as they are: odd, and without a pattern. */
__attribute__((constructor)) static void index_choose_seeds(void)
{
    uint64_t random[2];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != sizeof random)
        return;
    memcpy(index_seeds, random, sizeof random);
}

uint64_t index_bytes_key(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t key = length ^ index_seeds[0], word = 0;
    for (; length > sizeof word; length -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        key = index_fold(key ^ word, index_seeds[1]) + index_seeds[0];
    }
    word = 0;
    if (length)
        memcpy(&word, at, length);
    return index_fold(key ^ word, index_seeds[1]);
}

struct number_index *index_new(void)
{
    struct number_index *table = need_memory(1, sizeof *table);
    table->slots = need_memory(FIRST_SLOTS, sizeof *table->slots);
    table->mask = FIRST_SLOTS - 1;
    return table;
}

void index_free(struct number_index *table)
{
    free(table->slots);
    free(table);
}

void index_clear(struct number_index *table)
{
    memset(table->slots, 0, (table->mask + 1) * sizeof *table->slots);
    table->used = 0;
}

static void index_grow(struct number_index *table)
{
    struct index_slot *old = table->slots;
    size_t count = table->mask + 1;
    table->slots = need_memory(count * 2, sizeof *table->slots);
    table->mask = count * 2 - 1;
    for (size_t i = 0; i < count; i++)
        if (old[i].value_plus_1)
            *index_find(table, old[i].key, old[i].second) = old[i];
    free(old);
}

void index_set(struct number_index *table, struct index_slot *slot, uint64_t key, uint32_t second, uint32_t value)
{
    *slot = (struct index_slot){ key, second, value + 1 };
    if (++table->used * 2 > table->mask)
        index_grow(table);
}
