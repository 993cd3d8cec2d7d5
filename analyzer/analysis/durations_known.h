/* Of which calls a session that was loaded with durations has them. */
#ifndef DWELL_ANALYSIS_DURATIONS_KNOWN_H
#define DWELL_ANALYSIS_DURATIONS_KNOWN_H

#include "analysis/analysis.h"

/* Which durations of a session of trees views show: bits of tree_durations_kind_bit. With the time of the probes, only
 * mode profile has them; without it, those of mode profile are estimated. */
unsigned durations_wanted(const struct analysis *analysis);

/* Sets durations_known, and adds a remark about what the columns of percentiles cannot know. */
void durations_remark(struct summary *summary, const struct analysis *analysis);

#endif
