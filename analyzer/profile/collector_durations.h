/*
 * Durations of calls without probes, which a collector keeps by call path while it adds events. Calls that lie in
 * several chunks are parts at first, which call_parts.h joins.
 *
 * Which costs a path's calls have depends on its sums (path_probes.h). Some chunks, which are read before, tell these
 * well enough. Whoever takes the durations compares their sums with those of the profile.
 */
#ifndef DWELL_PROFILE_COLLECTOR_DURATIONS_H
#define DWELL_PROFILE_COLLECTOR_DURATIONS_H

#include "profile/call_parts.h"
#include "profile/collector.h"

/* Of all workers that read a session. */
struct timed_session {
    const struct session_file *file;
    const struct probe_cost **costs; /* by process of the file, or NULL */
    struct profile *sample;          /* of some chunks; NULL without costs */
    struct path_probes_table probes; /* of its paths */
    struct chunk_parts *parts;       /* by chunk of the file */
};

/* `costs` is as for overhead_subtract; without any, durations have their probes. */
struct timed_session timed_session_begin(const struct session_file *file, const struct probe_cost *costs, size_t count,
                                         unsigned jobs);

/* Adds the calls that lie in several chunks to the profile, whose paths are those of the parts. Frees what the session
 * has. */
void timed_session_end(struct timed_session *s, struct profile *p);

struct collector_durations *timed_calls_new(const struct timed_session *s);
void timed_calls_free(struct collector_durations *k);

/* The collector's paths got these numbers. Later chunks have paths of its own again. */
void timed_calls_renumber(struct collector_durations *k, const uint32_t *nodes);

/* The collector has no paths any more. */
void timed_calls_clear(struct collector_durations *k);

/* For the collector, in its chunk: begins, adds the events that have been read, and keeps the parts of open calls. */
void timed_calls_begin(struct collector *w);
void timed_calls_add(struct collector *w, struct decoder *d);
void timed_calls_end(struct collector *w);

#endif
