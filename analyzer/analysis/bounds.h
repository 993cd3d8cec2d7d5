/* Tells if a session's application time is far below its CPU time, the two bounds of the program's own work. */
#ifndef DWELL_ANALYSIS_BOUNDS_H
#define DWELL_ANALYSIS_BOUNDS_H

#include "analysis/summary.h"

/* Whether the two sums are known, and more than 10 % of the CPU time apart. Most sessions are like that: text marks
 * application time with a star then. */
bool bounds_are_apart(const struct summary *summary);

/* If so, a text for people that follows "application time is". Otherwise NULL. The caller frees it. */
char *bounds_remark(const struct summary *summary);

#endif
