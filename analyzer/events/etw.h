/* Writes trace events as the records that Event Tracing for Windows gives to consumers. */
#ifndef DWELL_EVENTS_ETW_H
#define DWELL_EVENTS_ETW_H

#include <stdio.h>

#include "events/event_views.h"

/* The last eight bytes of a header: KernelTime and UserTime in units, or ProcessorTime in ticks of the clock. */
enum etw_times { ETW_UNITS, ETW_PROCESSOR };

/* Writes all events in order. A record is an EVENT_TRACE_HEADER of 48 bytes and the data; Size is the size of both. */
void etw_write(const struct session_file *file, const struct trace_events *events, const struct event_options *options,
               enum etw_times times, FILE *out);

#endif
