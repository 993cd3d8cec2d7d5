/* Names of the levels and types that the header of a trace event knows. */
#ifndef DWELL_TRACE_EVENT_NAMES_H
#define DWELL_TRACE_EVENT_NAMES_H

#include "trace/trace_events.h"

/* NULL: it is one of the program's own. */
const char *event_type_name(unsigned type);

/* What other tools show an event as: its class and type; to be freed by the caller. */
char *event_name(const struct trace_event *event, const struct trace_event_class *class);

/* -1: there is none of that name, in any case of letters. */
int event_type_of(const char *name);
int event_level_of(const char *name);

#endif
