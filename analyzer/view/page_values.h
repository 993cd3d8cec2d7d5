/* Recorded values of the arguments of functions, packed for the page (`dwell view --with-values`). */
#ifndef DWELL_VIEW_PAGE_VALUES_H
#define DWELL_VIEW_PAGE_VALUES_H

#include "analysis/order.h"
#include "view/blocks.h"

/* Adds a block with the functions that have values: the table of `dwell values` of each value, and some calls. It reads
 * the session once for each of them, so there are fewer the more events there are. Returns what the header says of it:
 * NULL if the session has no values of single calls. `detail`: zero for no block. */
struct json_object *page_values_make(const struct analysis *analysis, const struct order *order, size_t detail,
                                     struct blocks *blocks);

#endif
