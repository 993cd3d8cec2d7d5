/* Finds how often a function's callers have waited for a condition. A loop around such a wait asks once more each time
 * that the thread wakes up, as in `while (queue_is_empty()) pthread_cond_wait(...)`. */
#ifndef DWELL_COMPARISON_DIFF_WAITS_H
#define DWELL_COMPARISON_DIFF_WAITS_H

#include "comparison/diff.h"

/* Fills the run's `waits`. `keys` has those of the profile's functions, modules or nodes, whichever are compared. */
void diff_waits_fill(const struct diff *d, struct diff_run *run, const struct profile *p, const uint32_t *keys);

/* Whether these waits explain all of the change in calls: one differs no more than the other. */
bool diff_waits_explain(const struct diff *d, const struct diff_row *row);

#endif
