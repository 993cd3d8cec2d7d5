/* The single calls of an analysis, and the limits of their durations. For modules that make an analysis. */
#ifndef DWELL_ANALYSIS_SINGLE_CALLS_H
#define DWELL_ANALYSIS_SINGLE_CALLS_H

#include "analysis/analysis.h"

/* The probes' costs of all processes that have measured them. The caller frees the list. */
struct probe_cost *single_calls_list_costs(const struct session_file *f, size_t *count);

/* In ticks, rounded up: the most that the probes of a call take within it, of all processes. A time that is less is a
 * difference of two about equal ones. Zero if no process has measured it. */
uint64_t single_calls_resolution(const struct session_file *f);

/* The shortest and longest calls of a new profile have their probes. This makes them unknown where the overhead was
 * subtracted from the sums. */
void single_calls_forget_limits(struct analysis *analysis);

/* After that: takes those without probes that a session of sums has. */
void single_calls_take_limits(struct analysis *analysis);

/* Or finds them in a session of events, and the durations of single calls as views of these find them: what is wanted
 * of both. The session is read again, if anything is. */
void single_calls_find(struct analysis *analysis, bool limits, bool durations);

/* Whether analysis_scan_with_limits can find the limits later. A part of a session is read in other ways. With samples,
 * that saves no time. */
bool single_calls_can_wait(const struct analysis *analysis);

/* Finds the limits without probes of a profile that is as recorded, and keeps them beside those with probes. Also finds
 * how long calls took, without probes. The session is read again. */
void single_calls_find_net(struct analysis *analysis);

/* The durations of single calls by path. Makes the profile of an analysis that wants them, and keeps those that can be
 * kept meanwhile. */
void single_calls_collect(struct analysis *analysis, unsigned jobs);

/* Completes the durations that it kept. False if they are not good: in a range of time, as calls have their whole time;
 * with several stacks on a thread; if samples or counting took a part of the paths' time; or if the durations of a path
 * do not add up to its time, without probes, within 1/128. */
bool single_calls_keep(struct analysis *analysis);

/* The same as the first two for one path; the second in a session of sums, which has the limits. */
void single_calls_forget_limits_of(struct profile_node *node);
void single_calls_take_limits_of(struct profile_node *node);

#endif
