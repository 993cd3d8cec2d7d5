/* Finds the change that stands out in a figure of runs of consecutive builds. */
#ifndef DWELL_FLEET_TREND_H
#define DWELL_FLEET_TREND_H

#include <stdbool.h>
#include <stddef.h>

/* The runs of a build follow each other, and the builds are in the order of time. */
struct trend {
    const double *values; /* by run */
    const size_t *begins; /* by build: its first run; one more for the end */
    size_t builds;
};

/* Returns the build whose figure differs from that of the build before, or 0 if no change stands out. A change is the
 * difference between the runs of two builds next to each other, or between all runs before and all from then on. Of
 * those that chance hardly makes (5 % for all of them together) the least likely one is returned, if the two builds
 * differ by 1 % at least. */
size_t trend_find_change(const struct trend *t);

#endif
