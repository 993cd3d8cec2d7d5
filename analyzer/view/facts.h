/* What a page says of a session beside its tables: names, places and remarks. */
#ifndef DWELL_VIEW_FACTS_H
#define DWELL_VIEW_FACTS_H

#include "analysis/order.h"

struct json_object;

/* Functions, modules and threads in the order's numbers, processes in that of their serial numbers. */
struct json_object *facts_of(const struct analysis *session, const struct order *order);

#endif
