/* The data of trace events as named fields, as the program has described them (dwell_event_describe). */
#ifndef DWELL_TRACE_EVENT_FIELDS_H
#define DWELL_TRACE_EVENT_FIELDS_H

#include "trace/session_file.h"
#include "trace/trace_event_list.h"

/* Sorts the file's descriptions for event_fields_layout. Called once, when the file has been read. */
void event_fields_sort_layouts(struct session_file *file);

/* The description of events of that class, type and version, or NULL. One for the type comes before one for any type.
 * The latter is not for EXTENSION: its data begins in the middle of that of another event. */
const struct trace_event_layout *event_fields_layout(const struct session_file *file, const uint8_t guid[16],
                                                     unsigned type, unsigned version);

/* The data as "name=value, name=value". Fields that the data lacks are "name=?". Data behind the last known field is in
 * hexadecimal digits. NULL if the description has no fields, or is NULL. The caller frees it. */
char *event_fields_text(const struct trace_event_layout *layout, const uint8_t *data, size_t size);

/* The name that the description gives the type, or NULL. */
const char *event_fields_type_name(const struct trace_event_layout *layout, unsigned type);

/* The data as fields if the program has described them, else as text or as hexadecimal digits. Only the first `most`
 * bytes of it are shown. The caller frees it. */
enum { EVENT_SHORT_DATA = 40 };
char *event_data_text(const struct session_file *file, const struct trace_events *events,
                      const struct trace_event *event, size_t most);

#endif
