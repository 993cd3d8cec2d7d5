/* Makes the profile of a session with several worker threads. */
#ifndef DWELL_PROFILE_COLLECT_H
#define DWELL_PROFILE_COLLECT_H

#include "profile/profile.h"
#include "profile/selection.h"
#include "profile/session_samples.h"
#include "trace/session_file.h"

/* The number of worker threads if the user chose none: the processors that this process may use. */
unsigned collect_default_jobs(void);

/* The profile of all events in the file, made by `jobs` threads. */
struct profile *collect_profile(const struct session_file *file, unsigned jobs);

/* The profile of some of its chunks, without reported functions. */
struct profile *collect_chunks(const struct session_file *file, struct trace_chunk *chunks, size_t count,
                               unsigned jobs);

/* The profile of a part of the session. A selection of NULL is the whole. The samples are added to it, unless they are
 * NULL. */
struct profile *collect_selection(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                                  const struct selection *selection);

/* Adds it to a profile of the session whose paths have no times and no counts. The selection has no limits in time. */
void collect_add_selection(struct profile *p, const struct session_file *file, const struct session_samples *samples,
                           unsigned jobs, const struct selection *selection);

/* The same as collect_selection, but calls from different call sites are on different paths if the session has call
 * sites. */
struct profile *collect_sites(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                              const struct selection *selection);

/* The same as collect_selection, with the durations of calls that a session of trees has (trees.h). With `values`,
 * calls with different ones are on different paths. */
struct recorded_values;
struct profile *collect_tree_durations(const struct session_file *file, const struct session_samples *samples,
                                       unsigned jobs, const struct selection *selection, unsigned kinds,
                                       const struct recorded_values *values);

/* The same as collect_selection, and keeps how long completed calls took, by path (durations.h): without probes of
 * these costs, which are as for overhead_subtract. The selection has no limits in time. *kept says whether the profile
 * has them: it has none in a session with several stacks on a thread, or with too many calls of rare paths. */
struct probe_cost;
struct profile *collect_durations(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                                  const struct selection *selection, const struct probe_cost *costs, size_t count,
                                  bool *kept);

/* The same as collect_selection, and notes calls for those who scan them later. The selection has no ranges. */
struct noted_calls;
struct profile *collect_noted(const struct session_file *file, const struct session_samples *samples, unsigned jobs,
                              const struct selection *selection, struct noted_calls *noted);

/* Adds the waits, acts and answers of a part of the session to `waits`, which has none yet. Returns the call paths that
 * they name. They have no amounts. */
struct waits;
struct profile *collect_waits(const struct session_file *file, unsigned jobs, const struct selection *selection,
                              struct waits *waits);

#endif
