/* Durations of calls without probes, which a collector keeps by call path while it adds events. */
#ifndef DWELL_PROFILE_COLLECTOR_DURATIONS_H
#define DWELL_PROFILE_COLLECTOR_DURATIONS_H

#include "profile/collector.h"
#include "profile/timed_session.h"

struct collector_durations *timed_calls_new(struct timed_session *s);
void timed_calls_free(struct collector_durations *k);

/* Adds what was counted to the collector's paths. */
void timed_calls_count(struct collector_durations *k, struct profile *p);

/* The collector's paths got these numbers. Later chunks have paths of its own again. */
void timed_calls_renumber(struct collector_durations *k, const uint32_t *nodes);

/* The collector has no paths any more. */
void timed_calls_clear(struct collector_durations *k);

/* For the collector, in its chunk: begins, adds the events that have been read, and keeps the parts of open calls. */
void timed_calls_begin(struct collector *w);
void timed_calls_add(struct collector *w, struct decoder *d);
void timed_calls_end(struct collector *w);

#endif
