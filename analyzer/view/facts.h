/* The facts about a session in the header of a page: names, source locations, sums and remarks. */
#ifndef DWELL_VIEW_FACTS_H
#define DWELL_VIEW_FACTS_H

#include "analysis/order.h"

struct json_object;

/* Makes the header. Functions, modules and threads are numbered as in `order`, processes by their serial numbers. */
struct json_object *facts_of(const struct analysis *session, const struct order *order);

/* The sums of the session, which percentages refer to, and its numbers of events. */
struct json_object *facts_totals(const struct analysis *session);

#endif
