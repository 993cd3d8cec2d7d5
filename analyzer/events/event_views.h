/* The views of trace events. */
#ifndef DWELL_EVENTS_EVENT_VIEWS_H
#define DWELL_EVENTS_EVENT_VIEWS_H

#include "profile/selection.h"
#include "tables/views.h"
#include "trace/event_pairs.h"
#include "trace/trace_event_list.h"

/* Selects the events to show. An empty list selects all. */
struct event_filter {
    char **classes; /* globs for names, or GUIDs in the form of guid_text */
    size_t class_count, class_room;
    bool types[256], some_types;
    int severity;                    /* the highest; -1 for any */
    const struct selection *threads; /* of these threads and processes; NULL if of all */
    uint64_t from, to;               /* ticks of the session: from <= time < to */
};

bool event_passes(const struct event_filter *filter, const struct session_file *file, const struct trace_events *events,
                  const struct trace_event *event);

struct event_options {
    const struct event_filter *filter;
    uint32_t resolution; /* of the timer, in units of 100 ns */
    bool raw_timestamps; /* time stamps are ticks of the session's clock, as recorded */
    bool stacks;         /* text shows all open functions instead of the innermost one */
    size_t limit;        /* maximum number of rows; 0 for all */
};

struct table view_events(const struct analysis *analysis, const struct trace_events *events,
                         const struct event_options *options);

/* The views of activities that have ended: one by one, and summed up by class. The filter's types are ignored; its
 * other conditions apply to the first event of an activity. */
struct table view_event_pairs(const struct analysis *analysis, const struct trace_events *events,
                              const struct event_pairs *pairs, const struct event_options *options);
struct table view_event_queues(const struct analysis *analysis, const struct trace_events *events,
                               const struct event_pairs *pairs, const struct event_options *options);

/* Adds a line to the session's remarks, unless the count is 0. */
void event_remark(struct analysis *analysis, uint64_t count, const char *what);

/* Adds remarks about the numbers of events without a partner. */
void event_remark_unmatched(struct analysis *analysis, const struct trace_events *events,
                            const struct event_pairs *pairs, const struct event_filter *filter);

/* ---- shared by the views ---- */

/* The name of a class, or else its GUID. Valid as long as `events` and until the next call. */
const char *event_class_name(const struct trace_events *events, uint32_t class);

/* Converts a time to ticks since the session's start. */
uint64_t event_time(const struct session_file *file, uint64_t time);

#endif
