/* What else slow calls have more often than usual ones: their thread, a mark, a trace event, an argument, the time at
 * which they were. The calls are those that the scan has kept for tests of chance. */
#ifndef DWELL_CAUSES_WHY_FACTORS_H
#define DWELL_CAUSES_WHY_FACTORS_H

#include "causes/why_traits.h"

/* A trait, or a range of an axis, that separates the sets. */
struct why_factor {
    const char *name; /* "thread" */
    char *value;      /* "worker" */
    double shares[WHY_SETS];
    double probability; /* that chance alone gives any factor of the function such shares */
};

struct why_factors {
    struct why_factor *list; /* the largest difference of the shares first */
    size_t count, room;
};

/* The scan's samples have to be sorted. With `values`, recorded arguments can be factors as well. */
struct why_factors why_factors_find(const struct why_part *parts, size_t count, const struct why_found *scan,
                                    bool values);
void why_factors_drop(struct why_factors *factors);

/* ---- parts of why_factors_find ---- */

/* How unlikely the best range of an axis is: see why_factor_chance.c. */
struct why_range {
    size_t first, end; /* bins: first <= bin < end */
    double distance;
};

/* Adds the factors that separate the sets by more than chance. */
void why_factors_test(struct why_factors *factors, const struct why_traits *traits);

#endif
