/*
 * A session's functions, threads and call paths in a fixed order, and a walk over them. The order does not depend on
 * how the work was split among threads, so an export always writes the same file.
 */
#ifndef DWELL_ANALYSIS_ORDER_H
#define DWELL_ANALYSIS_ORDER_H

#include "analysis/analysis.h"

struct order {
    const struct analysis *session;
    const struct profile *profile;
    uint32_t *functions;              /* by rank: by name, then module, then address */
    uint32_t *ranks;                  /* by function */
    uint32_t *modules, *module_ranks; /* the same for modules: by path, then build-id */
    uint32_t *threads;                /* in the order of their serial numbers */
    uint32_t *first_child, *sibling;  /* by node, in the order of functions; PROFILE_NONE ends a list */
};

struct order *order_new(const struct analysis *session);
void order_free(struct order *order);

/* Puts callees of each node with larger weights first, by node. Those of equal weights stay in their order. */
void order_put_heaviest_first(struct order *order, const uint64_t *weights);

/* `enter` is called before a node's callees are visited, and `leave` after them. `path` leads from the thread's
 * outermost call to the node. */
struct order_visitor {
    void (*enter)(struct order_visitor *visitor, uint32_t node);
    void (*leave)(struct order_visitor *visitor, uint32_t node); /* may be NULL */
    const uint32_t *path;
    size_t depth;
};

/* Visits all nodes of a thread except its root. */
void order_walk(const struct order *order, const struct profile_thread *thread, struct order_visitor *visitor);

#endif
