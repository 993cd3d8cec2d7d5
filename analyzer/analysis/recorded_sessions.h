/* The recorded sessions of a file of sums: each has a clock and samples of its own. */
#ifndef DWELL_ANALYSIS_RECORDED_SESSIONS_H
#define DWELL_ANALYSIS_RECORDED_SESSIONS_H

#include "analysis/analysis.h"

/* Divides the profile's time by samples, and each session by its own. If the file has several sessions, their ticks
 * become nanoseconds after that. */
void recorded_sessions_divide(struct analysis *analysis);

/* Adds a remark if parts of a session are missing. */
void recorded_sessions_remark(struct summary *summary, const struct session_file *file);

/* The clock of the process: ticks per second, if its ticks become nanoseconds; else zero. */
uint64_t recorded_sessions_rate(const struct session_file *file, uint32_t process);

/* How many of a session's shards or deltas the file has, and 1 + the number of the last one; zero if there is none. */
uint32_t recorded_sessions_held(const struct trace_summed *s);
uint32_t recorded_sessions_last(const struct trace_summed *s);

#endif
