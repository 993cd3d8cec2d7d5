/* The numbers of a table as text: times in the unit of their column, counts and percentages. */
#ifndef DWELL_REPORT_TEXT_NUMBERS_H
#define DWELL_REPORT_TEXT_NUMBERS_H

#include "base/time_unit.h"
#include "tables/table.h"

/* The unit of a column. */
struct text_unit {
    const struct time_unit *time; /* NULL: each time has its own unit, or the column holds no times */
    bool samples;                 /* ticks are samples, without a unit */
};

/* The units of the columns, by their index in the table. `order` lists the columns that are printed. The caller frees
 * the list. */
struct text_unit *text_choose_units(const struct table *t, const size_t *order, size_t count);

/* The title of a column, with its unit. */
void text_make_title(const struct column *column, struct text_unit unit, char *title, size_t size);

/* The texts of a column of numbers, by row, in `texts`. The points of times are below each other. The caller frees the
 * texts. */
void text_format_numbers(const struct table *t, size_t column, struct text_unit unit, char **texts);

#endif
