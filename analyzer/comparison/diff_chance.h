/* Finds the rows whose calls the system's timing decides, so that they can differ between runs of one program. */
#ifndef DWELL_COMPARISON_DIFF_CHANCE_H
#define DWELL_COMPARISON_DIFF_CHANCE_H

#include "comparison/diff.h"

/* Notes which functions the session's waits and calls of the system call. `p` is the session's profile with the
 * names of the comparison. */
void diff_chance_add(struct diff *d, const struct profile *p);

/* By key, values of enum diff_chance, without CHANCE_RUNS and CHANCE_WAITS. The caller frees them. */
uint8_t *diff_chance_judge(const struct diff *d);

#endif
