/* The tables of the SQLite export, and the views that say what `dwell report` and its kin say. */
#ifndef DWELL_EXPORT_SQLITE_SCHEMA_H
#define DWELL_EXPORT_SQLITE_SCHEMA_H

#include "export/database.h"

void sqlite_make_tables(struct database *d);

/* Indices and views: for when the tables are full. */
void sqlite_make_views(struct database *d);

#endif
