/* The call paths of a session over all threads, a row each, siblings by their inclusive elapsed time. */
#ifndef DWELL_VIEW_PATHS_H
#define DWELL_VIEW_PATHS_H

#include "analysis/order.h"

struct paths {
    struct profile *profile; /* all threads joined into one tree */
    struct rollup *rollup;
    uint32_t *nodes;     /* by row; callers come before callees */
    int32_t *parents;    /* by row, the caller's row or -1 */
    uint32_t *functions; /* by row, the function's number in the order */
    size_t count;
};

struct paths paths_of(const struct analysis *session, const struct order *order);
/* By function of a profile, its number in the order; PROFILE_NONE if the session does not have the function. The caller
 * frees the array. */
uint32_t *paths_function_ranks(const struct profile *profile, const struct analysis *session,
                               const struct order *order);

void paths_drop(struct paths *paths);

#endif
