/* The waits of a session, the critical path and the ranking of functions, packed for its page. */
#ifndef DWELL_VIEW_PAGE_WAITS_H
#define DWELL_VIEW_PAGE_WAITS_H

#include "analysis/analysis.h"
#include "view/container.h"

/* Reads the session again, several times. With `detail` zero, single waits are left out. Returns false if there is
 * nothing to show: the session is an imported report. packed_drop frees the result. */
bool page_waits_make(const struct analysis *analysis, size_t detail, struct packed *packed);

#endif
