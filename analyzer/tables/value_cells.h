/* Recorded values in cells of tables: those of a row in columns of their own. */
#ifndef DWELL_TABLES_VALUE_CELLS_H
#define DWELL_TABLES_VALUE_CELLS_H

#include "tables/recorded_argument.h"
#include "tables/table.h"

/* Of a column for data whose cells are values. */
enum cell_kind value_cell_kind(const struct recorded_value *value);

/* `words` are those of recorded_value_words. What could not be read is unknown. */
void cell_value(struct cell *cell, const struct recorded_value *value, const uint64_t *words);

/* The values of single calls of a function, for a table with a row for each call. */
struct value_cells {
    struct recorded_argument argument;
    const struct recorded_function *function; /* NULL if none of its values are known */
    size_t first;                             /* of their columns */
};

struct value_cells value_cells_begin(const struct analysis *analysis, uint32_t function);

/* A table with these columns. If there are values, more columns follow: one for text, with all values of the call, and
 * one for data of each value. */
struct table value_cells_table(struct value_cells *v, const struct column *columns, size_t count,
                               const struct summary *session);

/* Fills them in the row of the call which that thread (serial number) has entered at that time. */
void value_cells_fill(const struct value_cells *v, struct cell *row, uint32_t thread, uint64_t time);

#endif
