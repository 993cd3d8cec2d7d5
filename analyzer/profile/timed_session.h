/*
 * Durations of calls without probes, which the collectors of a session keep by call path (collector_durations.h). Calls
 * that lie in several chunks are parts at first, which call_parts.h joins.
 *
 * Which costs a path's calls have depends on its sums (path_probes.h). Of frequent paths, some chunks, which are read
 * before, tell these well enough. Calls of other paths wait for the sums (rare_calls.h). Whoever takes the durations
 * compares their sums with those of the profile.
 */
#ifndef DWELL_PROFILE_TIMED_SESSION_H
#define DWELL_PROFILE_TIMED_SESSION_H

#include "profile/rare_calls.h"

/* Of all workers that read a session. */
struct timed_session {
    const struct session_file *file;
    const struct probe_cost **costs; /* by process of the file, or NULL */
    struct profile *sample;          /* of some chunks */
    struct path_probes_table probes; /* of its paths */
    bool *rare_paths;                /* by path of the sample */
    struct chunk_parts *parts;       /* by chunk of the file */
    struct rare_calls *rare;         /* by chunk of the file */
    size_t rare_count;               /* of all chunks */
    const struct probe_cost *list;   /* as given, with its count */
    size_t count;
};

enum { RARE_MOST = 1 << 21 }; /* calls of rare paths, in 48 MB */

/* `costs` is as for overhead_subtract; without any, durations have their probes. */
struct timed_session timed_session_begin(const struct session_file *file, const struct probe_cost *costs, size_t count,
                                         unsigned jobs);

/* Adds the calls of rare paths and those that lie in several chunks to the profile, whose paths are those of the parts.
 * Frees what the session has. Returns whether the profile has the durations: calls on several stacks are not those of
 * the chunks one by one, and there can be too many calls of rare paths. */
bool timed_session_end(struct timed_session *s, struct profile *p);

/* The cost of processes whose costs are unknown, or stay in the durations. */
extern const struct probe_cost timed_no_cost;

/* What the chunk's probes cost. */
const struct probe_cost *timed_session_cost(const struct timed_session *s, const struct trace_chunk *chunk);

#endif
