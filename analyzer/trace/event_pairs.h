/*
 * Matches the trace events of an activity: a START, an optional DEQUEUE (until then it waited in a queue), replies
 * (REPLY), and an END. If there is no END, the last reply ends it. DC_START is the START of an activity that was open
 * when the data collection began, and DC_END the END of one that was open at its end. An EXTENSION continues the event
 * of its thread and class before it, and belongs to the activity of that event.
 *
 * All events of an activity are of one class and process. Threads and nesting decide which ones:
 *
 *   - a START is on its thread;
 *   - a DEQUEUE takes the oldest waiting activity that its own thread has started, or else the oldest of the process,
 *     which another thread has put into the queue;
 *   - an END or REPLY belongs to the activity that its thread took from a queue last, or else to the innermost one that
 *     it has started.
 *
 * With a key, the first bytes of the data of each event decide instead, and threads do not matter.
 *
 * Timers of PerfLog (DWELL_PERFLOG_GUID) belong to their thread and marker. A second START begins one anew.
 */
#ifndef DWELL_TRACE_EVENT_PAIRS_H
#define DWELL_TRACE_EVENT_PAIRS_H

#include "trace/trace_event_list.h"

enum { EVENT_LONGEST_KEY = 64 };

/* Events are 1 + their index, or zero if there is none. */
struct event_activity {
    uint32_t class;
    uint32_t replies;
    size_t start, dequeue, end; /* the end is the last reply if there is no END */
    size_t first_reply, last_reply;
    uint32_t extensions; /* number of EXTENSION events that continue its events */
};

struct event_pairs {
    struct event_activity *list; /* in the order of their starts, including those without an end */
    size_t count;
    size_t *strays; /* indices of DEQUEUE, END and REPLY events without a START */
    size_t stray_count, stray_room;
    size_t *extensions; /* by event: 1 + the EXTENSION that continues it, or zero */
};

/* `key` is the length of the key in bytes, or zero for none. */
struct event_pairs event_pairs_match(const struct trace_events *events, size_t key);
/* Whether it is the beginning, end or error of a timer of PerfLog. */
bool event_is_of_perflog(const struct trace_events *events, const struct trace_event *e);

void event_pairs_free(struct event_pairs *pairs);

#endif
