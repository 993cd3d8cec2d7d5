/* The view that compares PerfLog logs marker by marker. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "comparison/change.h"
#include "perflog/perflog_compare.h"

enum {
    AT_APP,
    AT_MARKER,
    AT_IN,
    AT_COUNT,
    AT_MEAN = AT_COUNT + 2,
    AT_MEAN_CHANGE = AT_MEAN + 2,
    AT_MEAN_PERCENT,
    AT_TOTAL,
    AT_TOTAL_CHANGE = AT_TOTAL + 2,
    AT_TOTAL_PERCENT,
    AT_JUDGED,
    AT_PROBABILITIES,
    AT_MARK = AT_PROBABILITIES + PERFLOG_COMPARED, /* only if changes are tested */
    COLUMNS,
};

static const struct column columns[COLUMNS] = {
    { "app", "APP", CELL_TEXT, USE_ALWAYS, false },
    { "marker", "MARKER", CELL_TEXT, USE_ALWAYS, false },
    { "in", "IN", CELL_TEXT, USE_ALWAYS, false },
    { "first_count", "COUNT 1", CELL_COUNT, USE_ALWAYS, false },
    { "second_count", "COUNT 2", CELL_COUNT, USE_ALWAYS, false },
    { "first_mean", "AVERAGE 1", CELL_TICKS, USE_ALWAYS, false },
    { "second_mean", "AVERAGE 2", CELL_TICKS, USE_ALWAYS, false },
    { "mean_change", "CHANGE", CELL_CHANGE, USE_ALWAYS, false },
    { "mean_change_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    { "first_total", "TOTAL 1", CELL_TICKS, USE_ALWAYS, false },
    { "second_total", "TOTAL 2", CELL_TICKS, USE_ALWAYS, false },
    { "total_change", "CHANGE", CELL_CHANGE, USE_ALWAYS, false },
    { "total_change_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    { "judged", "", CELL_TEXT, USE_DATA, false },
    [AT_PROBABILITIES + PERFLOG_COUNT] = { "count_p", "", CELL_DIGITS, USE_DATA, false },
    [AT_PROBABILITIES + PERFLOG_MEAN] = { "mean_p", "", CELL_DIGITS, USE_DATA, false },
    [AT_PROBABILITIES + PERFLOG_TOTAL] = { "total_p", "", CELL_DIGITS, USE_DATA, false },
    [AT_MARK] = { "mark", "", CELL_TEXT, USE_TEXT, false },
};

/* Averages share one unit, totals another. */
static const size_t groups[COLUMNS] = {
    [AT_MEAN] = AT_MEAN,   [AT_MEAN + 1] = AT_MEAN,   [AT_MEAN_CHANGE] = AT_MEAN,
    [AT_TOTAL] = AT_TOTAL, [AT_TOTAL + 1] = AT_TOTAL, [AT_TOTAL_CHANGE] = AT_TOTAL,
};

const char perflog_diff_sort_keys[] = "total, mean, name";

bool perflog_diff_can_sort(const char *key)
{
    return strcmp(key, "total") == 0 || strcmp(key, "mean") == 0 || strcmp(key, "name") == 0;
}

static int64_t perflog_diff_change(const struct perflog_compared_row *row, enum perflog_compared value)
{
    const struct perflog_change *change = &row->values[value];
    if (value == PERFLOG_MEAN && (!change->runs[0] || !change->runs[1]))
        return 0;
    return change_between(change->mean[0], change->mean[1]);
}

/* Rows are in the order of their names before; the sort is stable, as they are compared by their places at last. */
static int perflog_diff_compare_rows(const void *a, const void *b, void *data)
{
    const struct perflog_compared_row *x = *(const struct perflog_compared_row *const *)a,
                                      *y = *(const struct perflog_compared_row *const *)b;
    const char *key = data;
    const enum perflog_compared value = strcmp(key, "mean") == 0 ? PERFLOG_MEAN : PERFLOG_TOTAL;
    const int64_t of_x = llabs(perflog_diff_change(x, value)), of_y = llabs(perflog_diff_change(y, value));
    if (strcmp(key, "name") == 0)
        return ORDER(x, y);
    if (x->in_ticks != y->in_ticks)
        return x->in_ticks - y->in_ticks;
    if (x->values[value].significant != y->values[value].significant)
        return y->values[value].significant - x->values[value].significant;
    return of_x != of_y ? (of_x < of_y ? 1 : -1) : ORDER(x, y);
}

static void perflog_diff_fill_changes(struct cell *cells, const struct perflog_compared_row *row,
                                      enum perflog_compared value, size_t first, size_t at)
{
    const struct perflog_change *change = &row->values[value];
    const int64_t difference = perflog_diff_change(row, value);
    for (size_t side = 0; side < 2; side++)
        if (row->present[side] && change->runs[side] && !row->in_ticks)
            cell_number(&cells[first + side], change->mean[side]);
    if (!change->runs[0] || !change->runs[1])
        return;
    if (!row->in_ticks)
        cell_change(&cells[at], difference);
    fill_change_percent(&cells[at + 1], difference, change->mean[0]);
}

static void perflog_diff_fill_row(struct cell *cells, const struct perflog_compared_row *row,
                                  enum perflog_compared judged)
{
    cell_text(&cells[AT_APP], row->app);
    cell_text(&cells[AT_MARKER], row->marker);
    cell_text(&cells[AT_IN], !row->present[0] ? "second" : !row->present[1] ? "first" : "both");
    if (row->values[judged].significant) {
        cell_text(&cells[AT_JUDGED], "significant");
        cell_text(&cells[AT_MARK], "*"); /* a time is significant only if it was tested */
    }
    for (size_t side = 0; side < 2; side++)
        if (row->present[side])
            cell_number(&cells[AT_COUNT + side], row->values[PERFLOG_COUNT].mean[side]);
    perflog_diff_fill_changes(cells, row, PERFLOG_MEAN, AT_MEAN, AT_MEAN_CHANGE);
    perflog_diff_fill_changes(cells, row, PERFLOG_TOTAL, AT_TOTAL, AT_TOTAL_CHANGE);
    for (enum perflog_compared value = 0; value < PERFLOG_COMPARED; value++)
        fill_probability(&cells[AT_PROBABILITIES + value], row->values[value].probability);
}

struct table view_perflog_diff(const struct perflog_comparison *c, const struct perflog_choice *choice)
{
    const struct perflog_compared_row **sorted =
        need_memory(c->row_count + 1, sizeof(const struct perflog_compared_row *));
    const enum perflog_compared judged = strcmp(choice->sort, "mean") == 0 ? PERFLOG_MEAN : PERFLOG_TOTAL;
    for (size_t i = 0; i < c->row_count; i++)
        sorted[i] = &c->rows[i];
    qsort_r(sorted, c->row_count, sizeof(const struct perflog_compared_row *), perflog_diff_compare_rows,
            (void *)choice->sort);
    struct table t = table_make(columns, perflog_is_tested(c) ? COLUMNS : AT_MARK, NULL);
    t.unit_groups = groups;
    const size_t shown = choice->limit && choice->limit < c->row_count ? choice->limit : c->row_count;
    for (size_t i = 0; i < shown; i++)
        perflog_diff_fill_row(table_row(&t), sorted[i], judged);
    t.hidden_rows = c->row_count - shown;
    free(sorted);
    return t;
}
