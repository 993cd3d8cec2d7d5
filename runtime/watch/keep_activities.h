/* Slow activities of trace events, whose windows are kept as those of slow calls are (keep_calls.h). */
#ifndef DWELL_KEEP_ACTIVITIES_H
#define DWELL_KEEP_ACTIVITIES_H

#include "dwell/format.h"
#include "keep_names.h"

#pragma GCC visibility push(hidden)

struct thread;

/* Whether such an event begins or ends an activity. */
bool keep_is_of_activity(uint8_t type);

/* The calling thread has recorded such an event, of an activity of these names. With signals held back. */
void keep_activity_event(struct thread *t, const struct dwell_trace_event *event, const struct activity_names *names);

#pragma GCC visibility pop

#endif
