/* Names of the severities and predefined types of trace events. */
#ifndef DWELL_TRACE_EVENT_NAMES_H
#define DWELL_TRACE_EVENT_NAMES_H

#include "trace/session_file.h"
#include "trace/trace_event_list.h"

/* The name of a predefined type, or NULL if the program defined the type. */
const char *event_type_name(unsigned type);

/* The name that the program gave the event's type (dwell_event_describe), else that of the predefined type, else NULL.
 * Valid as long as `file`. */
const char *event_own_type_name(const struct session_file *file, const struct trace_event *event,
                                const struct trace_event_class *class);

/* The event's class and type, as other tools show it. The caller frees it. */
char *event_name(const struct session_file *file, const struct trace_event *event,
                 const struct trace_event_class *class);

/* The number of that name, in upper or lower case, or -1 if there is none. */
int event_type_of(const char *name);
int event_severity_of(const char *name);

/* The same, or the number from 0 to 255 that the text is. */
int event_type(const char *text);
int event_severity(const char *text);

#endif
