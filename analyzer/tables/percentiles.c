/* Fills the columns of percentiles. */
#include "tables/percentiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"

const struct column percentile_columns[PERCENTILE_COLUMNS] = {
    { "p50", "P50", CELL_TICKS, USE_CHOSEN, false },
    { "p90", "P90", CELL_TICKS, USE_CHOSEN, false },
    { "p99", "P99", CELL_TICKS, USE_CHOSEN, false },
};
static const double percents[PERCENTILE_COLUMNS] = { 50, 90, 99 };

bool percentiles_are_named(const char *keys)
{
    for (const char *key = keys; key; key = strchr(key, ',') ? strchr(key, ',') + 1 : NULL)
        for (size_t i = 0; i < PERCENTILE_COLUMNS; i++)
            if (column_is_named(&percentile_columns[i], key, strcspn(key, ",")))
                return true;
    return false;
}

size_t percentiles_list(struct column *columns, const struct analysis *analysis)
{
    if (!analysis->durations)
        return 0;
    memcpy(columns, percentile_columns, sizeof percentile_columns);
    return PERCENTILE_COLUMNS;
}

void percentiles_fill(struct cell *cells, const struct analysis *analysis, const struct durations *d)
{
    uint64_t ticks[PERCENTILE_COLUMNS];
    if (!analysis->durations || !d)
        return;
    durations_percentiles(d, percents, ticks, PERCENTILE_COLUMNS);
    for (size_t i = 0; i < PERCENTILE_COLUMNS; i++) {
        cell_call_time(&cells[i], ticks[i], &analysis->summary);
        cells[i].estimated = d->estimated || analysis->summary.durations_estimated;
    }
}

static size_t percentiles_column(const struct table *t, const char *key)
{
    return table_find_column(t, 0, key, strlen(key));
}

/* Estimates are of sessions whose limits are unknown. */
static void percentiles_limit_by(struct table *t, const char *least_key, const char *most_key)
{
    const size_t least = percentiles_column(t, least_key), most = percentiles_column(t, most_key),
                 first = percentiles_column(t, percentile_columns[0].key);
    if (larger(larger(least, most), first) == t->column_count)
        return;
    for (size_t row = 0; row < t->row_count; row++) {
        struct cell *cells = &t->cells[row * t->column_count];
        for (size_t i = first; i < first + PERCENTILE_COLUMNS; i++)
            if (cells[i].known && !cells[i].estimated && cells[least].known && cells[most].known)
                cells[i].number = larger(smaller(cells[i].number, cells[most].number), cells[least].number);
    }
}

/* No call takes longer than the row's calls together. */
static void percentiles_limit_by_sum(struct table *t)
{
    const size_t sum = percentiles_column(t, "elapsed_inclusive"),
                 first = percentiles_column(t, percentile_columns[0].key);
    if (larger(sum, first) == t->column_count)
        return;
    for (size_t row = 0; row < t->row_count; row++) {
        struct cell *cells = &t->cells[row * t->column_count];
        for (size_t i = first; i < first + PERCENTILE_COLUMNS; i++)
            if (cells[i].known && cells[sum].known)
                cells[i].number = smaller(cells[i].number, cells[sum].number);
    }
}

/* The row's other times are no estimates. */
static void percentiles_mark(struct table *t)
{
    const size_t first = percentiles_column(t, percentile_columns[0].key);
    for (size_t row = 0; row < t->row_count && first < t->column_count; row++)
        t->marks_cells |= t->cells[row * t->column_count + first].estimated;
}

void percentiles_limit(struct table *t, const struct analysis *analysis)
{
    percentiles_mark(t);
    percentiles_limit_by_sum(t);
    if (!analysis->limits)
        return;
    percentiles_limit_by(t, "min", "max");
    percentiles_limit_by(t, "elapsed_inclusive_min", "elapsed_inclusive_max");
}

struct durations **percentiles_by_function(const struct profile *p)
{
    struct durations **list = need_memory(p->function_count + 1, sizeof *list);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].function != PROFILE_NONE)
            durations_merge(&list[p->nodes[i].function], p->nodes[i].durations);
    return list;
}

void percentiles_free_list(struct durations **list, const struct profile *p)
{
    for (size_t i = 0; i < p->function_count; i++)
        free(list[i]);
    free(list);
}
