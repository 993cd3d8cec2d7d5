/* Warns if a session's application time is far below its CPU time, the two bounds of the program's own work. */
#ifndef DWELL_ANALYSIS_BOUNDS_H
#define DWELL_ANALYSIS_BOUNDS_H

#include "analysis/summary.h"

/* A line for people if the two sums are more than 10 % of the CPU time apart. Otherwise, or if one of them is unknown,
 * NULL. The caller frees it. */
char *bounds_remark(const struct summary *s);

#endif
