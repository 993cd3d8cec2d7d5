/* Sorts the rows of a table. */
#ifndef DWELL_TABLES_ROW_ORDER_H
#define DWELL_TABLES_ROW_ORDER_H

#include "tables/table.h"

/* Sorts by a column's key, or by "name" for the column that identifies rows. The largest number comes first, texts are
 * in order from A to Z, and unknown cells come last. All other columns break ties. In a tree, rows stay below their
 * parent and folded rows come last. A fixed row keeps its place, and other rows stay on their side of it. An unknown
 * column is an error; the table then stays as it is. */
bool table_sort(struct table *t, const char *key, struct error *error);

#endif
