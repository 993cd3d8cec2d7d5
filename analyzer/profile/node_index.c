/* A hash table with open addressing. Keys are in the nodes. */
#include "profile/node_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/profile.h"

enum { FIRST_SLOTS = 256 };

struct node_index *node_index_new(void)
{
    struct node_index *table = need_memory(1, sizeof *table);
    table->slots = need_memory(FIRST_SLOTS, sizeof *table->slots);
    table->mask = FIRST_SLOTS - 1;
    return table;
}

void node_index_free(struct node_index *table)
{
    free(table->slots);
    free(table);
}

void node_index_clear(struct node_index *table)
{
    memset(table->slots, 0, (table->mask + 1) * sizeof *table->slots);
    table->used = 0;
}

uint32_t *node_index_find(const struct node_index *table, const struct profile_node *nodes, uint32_t parent,
                          uint32_t function, uint32_t site)
{
    size_t at = index_hash((uint64_t)site << 32 | function, parent) & table->mask;
    for (;;) {
        uint32_t *slot = &table->slots[at];
        if (!*slot)
            return slot;
        const struct profile_node *node = &nodes[*slot - 1];
        if (node->parent == parent && node->function == function && node->site == site)
            return slot;
        at = (at + 1) & table->mask;
    }
}

static void node_index_grow(struct node_index *table, const struct profile_node *nodes)
{
    uint32_t *old = table->slots;
    const size_t count = table->mask + 1;
    table->slots = need_memory(count * 2, sizeof *table->slots);
    table->mask = count * 2 - 1;
    for (size_t i = 0; i < count; i++)
        if (old[i]) {
            const struct profile_node *node = &nodes[old[i] - 1];
            *node_index_find(table, nodes, node->parent, node->function, node->site) = old[i];
        }
    free(old);
}

void node_index_set(struct node_index *table, const struct profile_node *nodes, uint32_t *slot, uint32_t node)
{
    *slot = node + 1;
    if (++table->used * 2 > table->mask)
        node_index_grow(table, nodes);
}
