/* Warns if most of the CPU time that was measured for the rows of a table is that of the probes. */
#ifndef DWELL_TABLES_ROW_PROBES_H
#define DWELL_TABLES_ROW_PROBES_H

#include "tables/table.h"

/* Adds a remark about the table's rows to the session's remarks, if they need one. Rows that filters or a limit leave
 * out do not count. Does nothing if the table has no columns of times. */
void row_probes_remark(struct summary *summary, const struct table *t);

#endif
