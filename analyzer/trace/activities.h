/*
 * The activities of a session: timers of PerfLog between their start and end, and START to END of trace events. The
 * time of an activity that waited in a queue begins with its DEQUEUE, where the work begins.
 */
#ifndef DWELL_TRACE_ACTIVITIES_H
#define DWELL_TRACE_ACTIVITIES_H

#include "trace/event_pairs.h"
#include "trace/thread_ranges.h"

struct trace_activity {
    const struct trace_event *first, *last; /* the events that begin and end it */
    const struct trace_event *start;        /* START; differs from `first` if it waited in a queue */
    bool marker;                            /* a timer of PerfLog */
    uint32_t number;                        /* of the marker */
    char *name;                             /* the marker's string, or the name of the class; owned by the list */
};

struct activities {
    struct trace_activity *list; /* in order of their starts; only those that have ended */
    size_t count, room;
    struct trace_events events;
};

struct activities activities_read(const struct session_file *file);
void activities_free(struct activities *activities);

/* The string of the marker of an event of PerfLog, or its number if it has none. The caller frees it. */
char *activity_marker_name(const struct trace_event *event);

/* Whether the activity is wholly on one thread. */
static inline bool activity_has_thread(const struct trace_activity *activity)
{
    return activity->first->thread == activity->last->thread;
}

/*
 * Whether the activity is one that the user names: "marker:WHAT" or "activity:WHAT". WHAT is the marker's number, its
 * string, or one of the parts between its commas; or the name or GUID of a class. It can be a glob.
 */
bool activity_matches(const struct activities *activities, const struct trace_activity *activity, const char *wanted);

/* Whether the text begins with "marker:" or "activity:" and names something. */
bool activity_is_valid_name(const char *wanted);

#endif
