/* The moments that a program spoke of: its marks and its trace events, as tables for the page. */
#ifndef DWELL_VIEW_MARKS_H
#define DWELL_VIEW_MARKS_H

#include "analysis/order.h"
#include "base/intern.h"
#include "view/container.h"

enum { MARK_COLUMNS = 4, EVENT_COLUMNS = 5, MAX_EVENTS = 200000 };

struct moment;
struct moments {
    struct moment *list;
    size_t count;
    struct intern names;
    struct container_column columns[EVENT_COLUMNS];
    uint64_t left_out; /* there were more than a page can hold */
};

/* In the order of time, which counts from the session's start; that part of them that the selection holds. */
void marks_find(struct moments *marks, const struct analysis *session, const struct order *order);
void events_find(struct moments *events, const struct analysis *session, const struct order *order);
struct container_table marks_table(struct moments *marks);
struct container_table events_table(struct moments *events);

/* What the numbers of names mean. */
struct json_object *moments_names(const struct moments *moments);
void moments_drop(struct moments *moments);

#endif
