/* The tables of the SQLite export, and views with the contents of dwell's reports. */
#ifndef DWELL_EXPORT_SQLITE_SCHEMA_H
#define DWELL_EXPORT_SQLITE_SCHEMA_H

#include "analysis/summary.h"
#include "export/database.h"
#include "profile/values.h"

void sqlite_make_tables(struct database *d);

/* Writes the values of a path to `list`, in the order of the last columns of its table. Returns their number. */
enum { MAX_PATH_VALUES = VALUE_COUNT * VALUE_FORMS };
size_t sqlite_list_path_values(int64_t *list, const struct times *t);

/* Makes indices and views, after the tables have been filled. */
void sqlite_make_views(struct database *d, const struct summary *summary);

#endif
