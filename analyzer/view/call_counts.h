/* The numbers of calls by function, thread, period and duration: the page's histograms. */
#ifndef DWELL_VIEW_CALL_COUNTS_H
#define DWELL_VIEW_CALL_COUNTS_H

#include "analysis/order.h"
#include "view/blocks.h"

/* Makes the header's member "calls" and adds its block, in at most `most` bytes. `parts` is the member "parts" or NULL.
 * Returns NULL if the session has no single calls, or if the block would be too large. A session that lacks limits has
 * them afterwards. */
struct json_object *call_counts_make(struct analysis *session, const struct order *order, struct json_object *parts,
                                     size_t most, struct blocks *blocks);

#endif
