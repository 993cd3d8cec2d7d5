/*
 * A session's functions, threads and call paths in an order that does not depend on how the work was split, and the
 * walk over them: what exports write is the same each time.
 */
#ifndef DWELL_EXPORT_ORDER_H
#define DWELL_EXPORT_ORDER_H

#include "report/views.h"

struct export_order {
    const struct loaded *session;
    const struct profile *profile;
    uint32_t *functions;              /* by rank: names, then modules, then addresses ascend */
    uint32_t *ranks;                  /* by function */
    uint32_t *modules, *module_ranks; /* the same of modules: paths, then build-ids ascend */
    uint32_t *threads;                /* in the order of their serial numbers */
    uint32_t *first_child, *sibling;  /* by node, in the functions' order; PROFILE_NONE ends a list */
};

struct export_order *export_order_new(const struct loaded *session);
void export_order_free(struct export_order *order);

/* Is called before, and after, what is below a node; `path` ends with that node and begins with the thread's first
 * call. */
struct export_visitor {
    void (*enter)(struct export_visitor *visitor, uint32_t node);
    void (*leave)(struct export_visitor *visitor, uint32_t node); /* NULL: not called */
    const uint32_t *path;
    size_t depth;
};

/* Visits all nodes of a thread but its root. */
void export_walk(const struct export_order *order, const struct profile_thread *thread, struct export_visitor *visitor);

#endif
