/* The call paths of a session over all its threads, a row each, in the order in which `dwell tree` shows them. */
#ifndef DWELL_VIEW_PATHS_H
#define DWELL_VIEW_PATHS_H

#include "analysis/order.h"

struct paths {
    struct profile *profile; /* in which threads' trees lie on each other */
    struct rollup *rollup;
    uint32_t *nodes;     /* by row; callers come before what they call */
    int32_t *parents;    /* by row: a row, or -1 */
    uint32_t *functions; /* by row: numbers of the order */
    size_t count;
};

struct paths paths_of(const struct analysis *session, const struct order *order);
void paths_drop(struct paths *paths);

#endif
