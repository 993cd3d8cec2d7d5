/* Why calls of some functions were slow, packed for the page: what dwell why says of each of them. */
#ifndef DWELL_VIEW_PAGE_WHY_H
#define DWELL_VIEW_PAGE_WHY_H

#include "analysis/order.h"
#include "view/blocks.h"

/* Adds a block with the comparisons of the functions with most time, if there is one. It reads the session several
 * times for each, so the more events there are, the fewer functions have one. Returns what the header says of it: NULL
 * if the session has no single calls. `detail`: zero for no comparison. `values`: arguments can be
 * factors, too. */
struct json_object *page_why_make(const struct analysis *analysis, const struct order *order, size_t detail,
                                  bool values, struct blocks *blocks);

#endif
