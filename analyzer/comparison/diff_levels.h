/*
 * What a comparison cannot tell because calls were only counted. They are in no call path and in no range of time. So
 * calls on a path, or in a range, depend on the levels that functions had, which differ from run to run.
 */
#ifndef DWELL_COMPARISON_DIFF_LEVELS_H
#define DWELL_COMPARISON_DIFF_LEVELS_H

#include "comparison/diff_names.h"

/* What is unknown of a row: bits. */
enum { DIFF_UNKNOWN_CALLS = 1, DIFF_UNKNOWN_TIMES = 2 };

/* Notes the functions that were counted in a session, and adds a remark about them. `named`: its profile, with names.
 */
void diff_levels_add(struct diff *d, const struct analysis *analysis, const struct diff_renaming *renaming,
                     const struct profile *named);

/* What is unknown of each row, by key. NULL if all is known. The caller frees the array. */
uint8_t *diff_levels_judge(const struct diff *d);

#endif
