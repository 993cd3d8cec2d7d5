/* Which columns fit a terminal. */
#ifndef DWELL_REPORT_TEXT_FIT_H
#define DWELL_REPORT_TEXT_FIT_H

#include "report/table.h"

/* Takes columns out of `order` until the others, `widths` wide, leave room for names; those that tell least come first.
 * The answer is how many stay. */
size_t text_fit(const struct table *t, size_t *order, size_t *widths, size_t count, size_t terminal);

/* Whether a column of that width may be shown in part. */
bool text_may_be_cut(bool is_text, size_t width);

/* So many columns a text takes on the terminal. */
size_t text_width(const char *text);

#endif
