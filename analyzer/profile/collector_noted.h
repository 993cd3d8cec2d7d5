/* Notes calls while a collector adds events (noted_calls.h). */
#ifndef DWELL_PROFILE_COLLECTOR_NOTED_H
#define DWELL_PROFILE_COLLECTOR_NOTED_H

#include "profile/collector.h"
#include "profile/noted_calls.h"

struct call_noter *call_noter_new(struct noted_calls *calls);

/* Passes its notes on to the session's. Not at the same time as others. */
void call_noter_free(struct call_noter *n);

/* The collector's paths got these numbers. Takes the list. Later chunks have paths of its own again. Not at the same
 * time as others. */
void call_noter_number(struct call_noter *n, uint32_t *paths, size_t count);

/* For the collector, in its chunk: begins, adds the events that have been read, and ends. Without room for notes, the
 * first returns false: then the others must not be called. */
bool call_noter_begin(struct collector *w);
void call_noter_add(struct collector *w, struct decoder *d);
void call_noter_end(struct collector *w);

#endif
