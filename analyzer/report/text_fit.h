/* Fits the columns of a table into the width of a terminal: chooses columns, and shares the width among texts. */
#ifndef DWELL_REPORT_TEXT_FIT_H
#define DWELL_REPORT_TEXT_FIT_H

#include "tables/table.h"

enum { NAME_ROOM = 24 }; /* the least width of a long name */

/* The printed columns of a table. */
struct text_columns {
    const struct table *table;
    size_t *order;  /* indices of columns in the table */
    size_t *widths; /* at first those of the widest cells, or of the titles */
    size_t count;
    size_t name_room;   /* the least width of the main column, which has the names of the rows */
    size_t object_room; /* that of what is waited for; the functions below set it */
};

/* True if the texts of such a column may be cut. */
bool text_may_be_cut(const struct column *column, size_t width);

/* Removes columns without texts if others were cut for them, and the least important ones until the others leave room
 * for names. Then numbers go until the line can fit, but for the first one and that by which rows are sorted. */
void text_fit(struct text_columns *columns, size_t terminal);

/* Makes the columns of texts narrower, until the line fits. Without a terminal (0), only names that are not last get
 * narrower, so that a long one does not make all lines long. */
void text_fit_share(struct text_columns *columns, size_t terminal);

#endif
