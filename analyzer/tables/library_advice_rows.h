/* The rows of dwell advise about functions of libraries, and the options that record their calls. */
#ifndef DWELL_TABLES_LIBRARY_ADVICE_ROWS_H
#define DWELL_TABLES_LIBRARY_ADVICE_ROWS_H

#include <stdio.h>

#include "analysis/library_advice.h"
#include "tables/table.h"

struct table view_library_advice(const struct analysis *analysis, const struct library_advice *a);

/* The command line that records the calls of the first `count` functions. */
void library_advice_print_command(const struct library_advice *a, size_t count, FILE *out);

#endif
