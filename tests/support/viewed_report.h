/* What a page says of a session against what the reports print of it. */
#ifndef DWELL_TESTS_VIEWED_REPORT_H
#define DWELL_TESTS_VIEWED_REPORT_H

#include "support/viewed.h"

/* Every value of `dwell report --by ...` and of `dwell tree`, as JSON, of `session` (arguments: a file, options for a
 * part of it) must follow from the page's numbers; and no more rows than these may be there. */
void check_viewed(const struct viewed *v, const char *session);

/* Writes a page of them and checks that. */
void check_page(const char *session);

#endif
