/* Of which calls a session that was loaded with durations has them. */
#ifndef DWELL_ANALYSIS_DURATIONS_KNOWN_H
#define DWELL_ANALYSIS_DURATIONS_KNOWN_H

#include "analysis/analysis.h"

/* Sums have durations without probes alone. With the time of the probes, they are unknown. */
bool durations_lack_probes(const struct analysis *analysis);

/* Sets durations_known, and adds a remark about what the columns of percentiles cannot know. */
void durations_remark(struct summary *summary, const struct analysis *analysis);

#endif
