/* The order of a table's rows. */
#ifndef DWELL_REPORT_ROW_ORDER_H
#define DWELL_REPORT_ROW_ORDER_H

#include "report/table.h"

/* By a column's key, or "name" for what the rows are of: numbers the largest first, texts from A to Z, the unknown
 * last; then by all other columns. In a tree rows stay below their parent, and what was folded behind the others; a
 * fixed row stays, and so do those before and behind it on their side. It is an error if there is no such
 * column; the table stays as it is. */
bool table_sort(struct table *t, const char *key, struct error *error);

#endif
