/* The tables of the SQLite export about calls that were only counted, and about times that samples estimate. */
#ifndef DWELL_EXPORT_SQLITE_TIMING_H
#define DWELL_EXPORT_SQLITE_TIMING_H

#include <stdio.h>

#include "analysis/order.h"
#include "export/database.h"

void sqlite_make_timing_tables(struct database *d);

/* Fills them. Nothing is written for a session whose calls were all timed, without samples. */
void sqlite_write_timing(struct database *d, const struct analysis *session, const struct order *order);

/* Write columns for a list: those of table timing `g`, as reports have them, and those of a row of callers. */
void sqlite_put_timing_columns(FILE *out, const struct summary *summary);
void sqlite_put_callers_timing(FILE *out, const struct summary *summary);

#endif
