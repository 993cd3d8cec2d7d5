/* Calls with recorded values in the SQLite export (`dwell export sqlite --with-values`). */
#ifndef DWELL_EXPORT_SQLITE_VALUES_H
#define DWELL_EXPORT_SQLITE_VALUES_H

#include "analysis/order.h"
#include "base/index.h"
#include "export/database.h"
#include "trace/recorded_values.h"

/* Makes and fills the tables valued_call and call_value. `thread_numbers`: (thread, process) -> its number in the
 * database, less 1. */
void sqlite_write_values(struct database *d, const struct analysis *session, const struct recorded_values *values,
                         const struct order *order, const struct number_index *thread_numbers);

#endif
