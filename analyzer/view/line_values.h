/* The values of the lines from which calls were made, for the page. */
#ifndef DWELL_VIEW_LINE_VALUES_H
#define DWELL_VIEW_LINE_VALUES_H

#include "analysis/order.h"
#include "view/blocks.h"

/* Makes the header's member "lines" and adds its block. `lines` is the session of `order`, loaded with call sites.
 * Returns NULL if `lines` is NULL. */
struct json_object *line_values_make(const struct analysis *lines, const struct order *order, struct blocks *blocks);

#endif
