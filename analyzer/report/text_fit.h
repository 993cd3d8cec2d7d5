/* Chooses the columns that fit a terminal. */
#ifndef DWELL_REPORT_TEXT_FIT_H
#define DWELL_REPORT_TEXT_FIT_H

#include "report/table.h"

/* Removes the least important columns from `order` and `widths` until the others leave room for names. Returns the
 * number of remaining columns. */
size_t text_fit(const struct table *t, size_t *order, size_t *widths, size_t count, size_t terminal);

/* True if a column of that width may be cut. */
bool text_may_be_cut(bool is_text, size_t width);

/* The width of a text on the terminal, in character cells. */
size_t text_width(const char *text);

#endif
