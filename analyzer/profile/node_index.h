/*
 * Finds the nodes of a profile by parent, function and site. A profile may have millions of nodes, so the table holds
 * their numbers alone. Single entries are never removed, and what they are found by must not change.
 */
#ifndef DWELL_PROFILE_NODE_INDEX_H
#define DWELL_PROFILE_NODE_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct profile_node;

struct node_index {
    uint32_t *slots; /* number of a node + 1; zero if the slot is free */
    size_t mask;     /* number of slots - 1 */
    size_t used;
};

struct node_index *node_index_new(void);
void node_index_free(struct node_index *table);

/* Removes all entries, and keeps the memory for others. */
void node_index_clear(struct node_index *table);

/* The slot of the node, or the free slot for it. Valid until the next node_index_set. */
uint32_t *node_index_find(const struct node_index *table, const struct profile_node *nodes, uint32_t parent,
                          uint32_t function, uint32_t site);

/* Fills a free slot that node_index_find returned. */
void node_index_set(struct node_index *table, const struct profile_node *nodes, uint32_t *slot, uint32_t node);

#endif
