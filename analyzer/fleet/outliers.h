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
    double usual;         /* the median over all */
    double spread;        /* the median distance from it, scaled to a standard deviation of normal distributions */
    uint64_t least, most; /* the shortest and the longest call there; least > most if unknown */
};

/* By how many spreads the share is from the usual one. A spread counts as 0.1 % of the time at least. */
double outlier_score(const struct outlier *o);

/* A search takes the times of one function after the other. It has one function in memory, and the outliers. */
struct outliers_search {
    struct outlier *list;
    size_t count, room;
    const uint64_t *wholes; /* by unit: the time of all its functions */
    size_t units;
    uint32_t function;      /* the one that is in memory, whose shares these are: */
    double *shares;         /* by unit; zero where a unit does not have the function */
    double *sorted;         /* room for as many */
    uint64_t *least, *most; /* likewise */
};

/* `units` is at least 1. `wholes` must stay as it is until the end of the search. */
struct outliers_search outliers_begin(const uint64_t *wholes, size_t units);

/* What a function has in some rows of a unit. */
struct outliers_part {
    uint32_t function, unit;
    uint64_t time, least, most;
};

/* Adds to a function in a unit. All parts of one function come before those of the next one. */
void outliers_add(struct outliers_search *s, const struct outliers_part *part);

/* Ends the search. The list has the outliers, the largest difference first. A share is one if it is at least 5 spreads
 * and 1 % of the unit's time from the median. */
void outliers_end(struct outliers_search *s);
void outliers_drop(struct outliers_search *s);

#endif
