/*
 * A session's functions, threads and call paths in an order that does not depend on how the work was split, and the
 * walk over them: what exports write is the same each time.
 */
#ifndef DWELL_ANALYSIS_ORDER_H
#define DWELL_ANALYSIS_ORDER_H

#include "analysis/analysis.h"

struct order {
    const struct analysis *session;
    const struct profile *profile;
    uint32_t *functions;              /* by rank: names, then modules, then addresses ascend */
    uint32_t *ranks;                  /* by function */
    uint32_t *modules, *module_ranks; /* the same of modules: paths, then build-ids ascend */
    uint32_t *threads;                /* in the order of their serial numbers */
    uint32_t *first_child, *sibling;  /* by node, in the functions' order; PROFILE_NONE ends a list */
};

struct order *order_new(const struct analysis *session);
void order_free(struct order *order);

/* Is called before, and after, what is below a node; `path` ends with that node and begins with the thread's first
 * call. */
struct order_visitor {
    void (*enter)(struct order_visitor *visitor, uint32_t node);
    void (*leave)(struct order_visitor *visitor, uint32_t node); /* NULL: not called */
    const uint32_t *path;
    size_t depth;
};

/* Visits all nodes of a thread but its root. */
void order_walk(const struct order *order, const struct profile_thread *thread, struct order_visitor *visitor);

#endif
