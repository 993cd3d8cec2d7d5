/* Finds runs or hosts that are unlike the rest, by the function that makes the difference. */
#ifndef DWELL_FLEET_OUTLIERS_H
#define DWELL_FLEET_OUTLIERS_H

#include <stddef.h>
#include <stdint.h>

enum { OUTLIERS_FEWEST = 4 }; /* runs or hosts: fewer have no rest to be unlike */

/* A function's share of the time of a run or host, and what is usual. All are from 0 to 1. */
struct outlier {
    uint32_t unit, function;
    double share;
    double usual;  /* the median over all */
    double spread; /* the median distance from it, scaled to a standard deviation of normal distributions */
};

/* By how many spreads the share is from the usual one. A spread counts as 0.1 % of the time at least. */
double outlier_score(const struct outlier *o);

/*
 * The outliers of one function, from its shares in all units; zero where a unit does not have it. A share is one if it
 * is at least 5 spreads and 1 % of the unit's time from the median. Writes them to `found`, which has room for all, and
 * returns their number. `sorted` is memory for `count` numbers.
 */
size_t outliers_find(uint32_t function, const double *shares, size_t count, double *sorted, struct outlier *found);

#endif
