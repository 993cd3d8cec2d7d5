/* Warns if most of the CPU time that was measured for the rows of a table is that of the probes. */
#include "tables/row_probes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/probe_share.h"

/* The sum of an exclusive value. The callers of a function, which come before its fixed row, have its own time. */
static uint64_t row_probes_sum(const struct table *t, enum value_id value)
{
    const char *key = value_column(value, EXCLUSIVE);
    uint64_t sum = 0;
    size_t column = t->first_value;
    while (column < t->column_count && strcmp(t->columns[column].key, key) != 0)
        column++;
    for (size_t row = t->fixed_row ? t->fixed_row - 1 : 0; column < t->column_count && row < t->row_count; row++) {
        const struct cell *cell = &t->cells[row * t->column_count + column];
        sum += cell->known ? cell->number : 0;
    }
    return sum;
}

void row_probes_remark(struct summary *summary, const struct table *t)
{
    char *line = probe_share_remark(summary, row_probes_sum(t, VALUE_OVERHEAD),
                                    row_probes_sum(t, probe_share_rest(summary)), " of these rows");
    if (line)
        summary_remark_doubt(summary, "mostly-probes", "%s", line);
    free(line);
}
