/* A table's rows as JSON, for the format json and for the page. */
#ifndef DWELL_TABLES_TABLE_JSON_H
#define DWELL_TABLES_TABLE_JSON_H

#include "tables/table.h"

struct json_object;

struct json_object *table_json_percent(double percent);

/* The row as an object. `order`: the numbers of its columns. The caller owns the reference. */
struct json_object *table_json_row(const struct table *t, const size_t *order, size_t count, size_t row);

/* The first `most` rows, as an array. The caller owns the reference. */
struct json_object *table_json_rows(const struct table *t, const size_t *order, size_t count, size_t most);

#endif
