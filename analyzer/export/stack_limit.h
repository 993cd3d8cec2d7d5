/*
 * A limit on the frames of a stack, for formats that write each stack whole. Without it, one deep recursion would make
 * a file that grows with the square of its depth (docs/export.md).
 */
#ifndef DWELL_EXPORT_STACK_LIMIT_H
#define DWELL_EXPORT_STACK_LIMIT_H

#include "analysis/order.h"

/* The frame that stands for those left out. */
#define STACK_LIMIT_NAME "[frames left out]"

struct stack_limit {
    size_t outer, inner; /* how many frames stay of a stack that is deeper than both together */
};

/* Whether any stack is deeper than the limit. */
struct stack_limit stack_limit_choose(const struct order *order, const size_t *costs, bool *cuts);

/* The index of the frame that is written after frame `i`, of a stack of `depth` frames. */
static inline size_t stack_limit_next(const struct stack_limit *limit, size_t i, size_t depth)
{
    return i + 1 == limit->outer && depth > limit->outer + limit->inner ? depth - limit->inner : i + 1;
}

#endif
