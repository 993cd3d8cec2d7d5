/* The view of a function's calls by the values of one argument, or of two (`dwell values`). */
#ifndef DWELL_TABLES_CALLS_BY_VALUE_H
#define DWELL_TABLES_CALLS_BY_VALUE_H

#include "analysis/analysis.h"
#include "base/error.h"
#include "tables/table.h"
#include "trace/recorded_values.h"

enum {
    DISTINCT_VALUES = 20, /* more numbers become ranges */
    BY_ARGUMENTS = 2,     /* so many at once */
};

struct by_value {
    uint32_t function;  /* of the analysis */
    const char *what;   /* the values' names with commas between them; NULL: the only one */
    bool quantiles;     /* ranges have about equally many calls, in place of powers of two */
    bool each;          /* a row for each value, however many there are */
    uint64_t valued;    /* out: calls that have values */
    uint64_t valueless; /* out: other calls */
    uint64_t others;    /* out: those of `valued` whose values have no sums of their own, in mode profile */
    bool sums;          /* out: rows are sums of mode profile, with calls that were still open */
};

/* False if the function has no such value; then the error is set. Otherwise the caller drops the table. */
bool view_by_value(const struct analysis *analysis, const struct recorded_values *values, struct by_value *by,
                   struct table *table, struct error *error);

#endif
