/* Names of the levels and predefined types of trace events. */
#ifndef DWELL_TRACE_EVENT_NAMES_H
#define DWELL_TRACE_EVENT_NAMES_H

#include "trace/trace_events.h"

/* NULL if the program defined it. */
const char *event_type_name(unsigned type);

/* Its class and type, as other tools show an event. The caller frees it. */
char *event_name(const struct trace_event *event, const struct trace_event_class *class);

/* Returns -1 if there is none of that name; upper and lower case are the same. */
int event_type_of(const char *name);
int event_level_of(const char *name);

#endif
