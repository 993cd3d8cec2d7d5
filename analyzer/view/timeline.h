/* A session's timeline for the page: one pass over its events, in memory that depends on the room for it alone. */
#ifndef DWELL_VIEW_TIMELINE_H
#define DWELL_VIEW_TIMELINE_H

#include "analysis/order.h"
#include "view/blocks.h"

/* Deeper calls are not in it: nobody looks at more rows than that. */
enum { TIMELINE_MAX_DEPTH = 1024 };

/* The header's "timeline", or NULL where the session has none; and its blocks. */
struct json_object *timeline_make(const struct analysis *session, const struct order *order, size_t most,
                                  struct blocks *blocks);

#endif
