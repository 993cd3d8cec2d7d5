/* Reads the trace events of a session (dwell/event.h): all of them in the order of time, or thread by thread. */
#ifndef DWELL_TRACE_TRACE_EVENT_LIST_H
#define DWELL_TRACE_TRACE_EVENT_LIST_H

#include "trace/session_file.h"

struct trace_event {
    uint64_t time;            /* ticks */
    uint32_t process, thread; /* serial numbers */
    uint32_t class;           /* index into trace_events.classes */
    uint8_t type, severity;
    uint16_t version;
    uint16_t flags; /* enum dwell_trace_event_flag */
    uint16_t frames;
    uint32_t depth;                            /* open calls; the `frames` innermost are known */
    uint64_t kernel_time, user_time, cpu_time; /* nanoseconds */
    const uint8_t *addresses; /* of these calls, innermost first, 8 bytes each: see trace_event_frame */
    const uint8_t *data;
    uint32_t data_size;
    uint32_t order;  /* among the events of its thread */
    size_t previous; /* 1 + index of its thread's previous event, or zero */
};

struct trace_events {
    struct trace_event *list;
    size_t count, room;
    struct trace_event_class *classes; /* the registered ones first, then others with events, which have no name */
    size_t class_count, class_room;
    size_t registered; /* number of registered classes */
    struct number_index *class_numbers;
    uint8_t **chunks; /* memory of the addresses and data */
    size_t chunk_count, chunk_room;
    uint64_t damaged_chunks;
};

struct trace_events trace_events_read(const struct session_file *file);
void trace_events_free(struct trace_events *events);

/* Called for each event, thread by thread, of all threads or of the one with that serial number (zero for all). Only
 * one chunk is in memory at a time. Returns false to stop. */
typedef bool trace_event_taker(void *context, const struct trace_event *event, const struct trace_event_class *class);
void trace_events_follow(const struct session_file *file, uint32_t thread, trace_event_taker *take, void *context);

/* Counts the events without keeping them. */
uint64_t trace_events_count(const struct session_file *file);

uint64_t trace_event_frame(const struct trace_event *event, unsigned i);

/* ---- GUIDs, as an EVENT_TRACE_HEADER has them ---- */

enum { GUID_TEXT = 37 };
void guid_text(const uint8_t guid[16], char text[GUID_TEXT]);

/* Parses a GUID with or without braces. Returns false if the text is not a GUID. */
bool guid_parse(const char *text, uint8_t guid[16]);

#endif
