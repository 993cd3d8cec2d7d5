/* Makes a session's timeline for the page in one pass over its events. Memory depends only on the timeline's size. */
#ifndef DWELL_VIEW_PAGE_PAGE_TIMELINE_H
#define DWELL_VIEW_PAGE_PAGE_TIMELINE_H

#include "analysis/order.h"
#include "view/activity.h"
#include "view/blocks.h"
#include "view/heat_map.h"

/* Deeper calls are left out: a page cannot show that many rows usefully. */
enum { TIMELINE_MAX_DEPTH = 1024 };

/* Makes the header's member "timeline", its blocks in at most `most` bytes, the activity of its threads, and the heat
 * map, both of which the caller drops. Returns NULL if there is no timeline. */
struct json_object *timeline_make(const struct analysis *session, const struct order *order, size_t most,
                                  struct blocks *blocks, struct activity *activity, struct heat_map *heat);

#endif
