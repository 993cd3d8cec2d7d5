/* The rows of dwell advise: functions that are worth leaving out. */
#ifndef DWELL_TABLES_ADVICE_ROWS_H
#define DWELL_TABLES_ADVICE_ROWS_H

#include <stdio.h>

#include "analysis/advice.h"
#include "tables/table.h"

extern const struct column view_advice_columns[];
extern const size_t view_advice_column_count;

struct table view_advice(const struct analysis *analysis, const struct advice *a);

/* A line about the probes of all functions, or of those that are left. The caller frees it. */
char *advice_describe(const struct analysis *analysis, const struct advice *a, uint64_t calls, uint64_t cost);

/* The prediction as members of a JSON object, without its brackets. */
void advice_print_json(const struct analysis *analysis, const struct advice *a, const struct advice_effect *e,
                       FILE *out);

#endif
