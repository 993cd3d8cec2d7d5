/* The views of trace events. */
#ifndef DWELL_REPORT_EVENTS_H
#define DWELL_REPORT_EVENTS_H

#include "profile/selection.h"
#include "report/views.h"
#include "trace/event_pairs.h"
#include "trace/trace_events.h"

/* Which events are shown. Lists that are empty let all pass. */
struct event_filter {
    char **classes; /* globs for names, or GUIDs as guid_text writes them */
    size_t class_count, class_room;
    bool types[256], some_types;
    int level;                       /* the highest; -1: any */
    const struct selection *threads; /* of these threads and processes; NULL if of all */
    uint64_t from, to;               /* ticks of the session: from <= time < to */
};

bool event_passes(const struct event_filter *filter, const struct session_file *file, const struct trace_events *events,
                  const struct trace_event *event);

struct event_options {
    const struct event_filter *filter;
    uint32_t resolution; /* of the timer, 100 ns */
    bool stacks;         /* text shows all open functions, not the innermost alone */
    size_t limit;        /* rows; zero: all */
};

struct table view_events(const struct analysis *l, const struct trace_events *events,
                         const struct event_options *options);

/* Activities that have ended, one by one, and all by class. A filter's types do not count there; the others are held
 * against what an activity began with. */
struct table view_event_pairs(const struct analysis *l, const struct trace_events *events,
                              const struct event_pairs *pairs, const struct event_options *options);
struct table view_event_queues(const struct analysis *l, const struct trace_events *events,
                               const struct event_pairs *pairs, const struct event_options *options);

/* Adds a line to the session's remarks, unless the count is zero. */
void event_remark(struct analysis *l, uint64_t count, const char *what);

/* Adds how many events found no partner. */
void event_remark_unmatched(struct analysis *l, const struct trace_events *events, const struct event_pairs *pairs,
                            const struct event_filter *filter);

/* ---- shared by the views ---- */

/* The class' name, or else its GUID; lives as long as `events` and until the next call. */
const char *event_class_name(const struct trace_events *events, uint32_t class);

/* The data as text, or as hexadecimal digits; of more than `most` bytes the first ones. To be freed by the caller. */
enum { EVENT_SHORT_DATA = 40 };
char *event_data_text(const struct trace_event *event, size_t most);

/* Ticks since the session began. */
uint64_t event_time(const struct session_file *file, uint64_t time);

#endif
