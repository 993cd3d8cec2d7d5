/* Compares a page's values with the values in the reports. */
#ifndef DWELL_TESTS_VIEWED_REPORT_H
#define DWELL_TESTS_VIEWED_REPORT_H

#include "support/viewed.h"

/* Every value of `dwell report --by ...` and of `dwell tree` must follow from the page's numbers. `session` has their
 * arguments: a file, and options that select a part. The page must have no other rows. */
void check_viewed(const struct viewed *v, const char *session);

/* The same for the page's lines and `dwell report --by line`. The session has call sites. */
void check_viewed_lines(const struct viewed_page *page, const char *session);

/* Writes a page of the session and compares it. */
void check_page(const char *session);

#endif
