/* The program's marks and trace events as tables for the page. */
#ifndef DWELL_VIEW_PAGE_PAGE_MARKS_H
#define DWELL_VIEW_PAGE_PAGE_MARKS_H

#include "analysis/order.h"
#include "base/intern.h"
#include "view/container.h"

enum { MARK_COLUMNS = 4, EVENT_COLUMNS = 5, DURATION_COLUMNS = 5, MAX_EVENTS = 200000 };

struct moment;
struct moments {
    struct moment *list;
    size_t count;
    struct intern names;
    struct container_column columns[EVENT_COLUMNS];
    uint64_t left_out; /* number of events beyond MAX_EVENTS */
};

/* Find the marks or events in the selected part of a session, in order of time. Times are ticks since its start. */
void marks_find(struct moments *marks, const struct analysis *session, const struct order *order);
void events_find(struct moments *events, const struct analysis *session, const struct order *order);
/* Activities and timers of PerfLog: they have a time and a duration. */
void activities_find(struct moments *activities, const struct analysis *session, const struct order *order);
struct container_table activities_table(struct moments *activities);
struct container_table marks_table(struct moments *marks);
struct container_table events_table(struct moments *events);

/* A list of the names that the column `name` refers to. */
struct json_object *moments_names(const struct moments *moments);
void moments_drop(struct moments *moments);

#endif
