/* Marks of rows in text: what kind of figures a row has, once beside its name. */
#ifndef DWELL_REPORT_TEXT_MARKS_H
#define DWELL_REPORT_TEXT_MARKS_H

#include "tables/table.h"

struct text_marks {
    size_t column; /* with the names of the rows */
    char **texts;  /* by row; NULL if no row is marked */
};

/* `order` lists the columns that are printed. "> " is a lower bound, "~ " an estimate, "~35% " one that is uncertain by
 * so much. Names stay below each other, but not in trees. */
struct text_marks text_marks_find(const struct table *t, const size_t *order, size_t count);

/* What stands before the cell: an empty text if it is no name, or no row is marked. */
const char *text_marks_of(const struct text_marks *marks, size_t column, size_t row);

void text_marks_drop(struct text_marks *marks);

#endif
