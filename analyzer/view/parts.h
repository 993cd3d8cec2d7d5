/* The amounts from which a page computes the values of a part of the session: of chosen threads, processes and times.
 */
#ifndef DWELL_VIEW_PARTS_H
#define DWELL_VIEW_PARTS_H

#include "view/blocks.h"
#include "view/paths.h"

/* Makes the header's member "parts" and adds its block, in at most `most` bytes. Returns NULL if the page cannot show
 * parts: if there is nothing to choose, if they need too much space, or if an imported report states its own sums. */
struct json_object *parts_make(const struct analysis *session, const struct order *order, const struct paths *paths,
                               size_t most, struct blocks *blocks);

#endif
