/* Which rows of a table are shown: conditions on names and values, all of which must hold. */
#ifndef DWELL_REPORT_ROW_FILTER_H
#define DWELL_REPORT_ROW_FILTER_H

#include "report/table.h"

struct row_condition {
    char *text; /* as it was given */
    char *key;
    int comparison;
    char *value;
};

struct row_filters {
    struct row_condition *list;
    size_t count, room;
};

/* These two tell what is wrong, to be freed by the caller, or NULL: they are for whoever asks again. */
char *row_filters_try(struct row_filters *f, const char *text);
char *table_refuses(const struct table *t, const struct row_filters *f);

/* Such as "name~parse*", "calls>100" or "elapsed_exclusive>1ms"; ends the program where it is no condition. */
void row_filters_add(struct row_filters *f, const char *text);
void row_filters_drop(struct row_filters *f);

/* Takes the rows away for which a condition does not hold; in a tree, those above a row that stays, stay. A cell that
 * is unknown fulfils none. Ends the program where the table has no such column, or it is compared with what it cannot
 * be. */
void table_filter(struct table *t, const struct row_filters *f);

#endif
