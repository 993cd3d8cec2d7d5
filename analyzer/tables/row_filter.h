/* Filters the rows of a table by conditions on names and values, all of which must hold. */
#ifndef DWELL_TABLES_ROW_FILTER_H
#define DWELL_TABLES_ROW_FILTER_H

#include "base/comparison.h"
#include "tables/table.h"

struct row_condition {
    char *text; /* as the user wrote it */
    char *key;
    enum comparison comparison;
    char *value;
};

struct row_filters {
    struct row_condition *list;
    size_t count, room;
};

/* Adds a condition such as "name~parse*", "calls>100" or "elapsed_exclusive>1ms". A glob alone is compared with the
 * name. */
bool row_filters_add(struct row_filters *f, const char *text, struct error *error);
void row_filters_drop(struct row_filters *f);

/* It is an error if a condition names no column of the table, or compares a column with a value of another kind. */
bool table_check_filters(const struct table *t, const struct row_filters *f, struct error *error);

/* Removes the rows for which a condition does not hold. In a tree, the rows above a row that stays, stay. An
 * unknown cell fulfils no condition. The errors are those of table_check_filters, each preceded by the condition; the
 * table then stays as it is. */
bool table_filter(struct table *t, const struct row_filters *f, struct error *error);

#endif
