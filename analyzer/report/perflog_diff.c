/* The view that compares two PerfLog logs marker by marker. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/quote.h"
#include "report/change.h"
#include "report/perflog.h"

static const struct column columns[] = {
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
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Averages share one unit, totals another. */
static const size_t groups[COLUMNS] = { [5] = 5, [6] = 5, [7] = 5, [9] = 9, [10] = 9, [11] = 9 };

struct perflog_row_pair {
    const struct perflog_row *first, *second; /* NULL if the log lacks the marker */
    int64_t total_change, mean_change;
};

const char perflog_diff_sort_keys[] = "total, mean, name";

bool perflog_diff_can_sort(const char *key)
{
    return strcmp(key, "total") == 0 || strcmp(key, "mean") == 0 || strcmp(key, "name") == 0;
}

static int perflog_diff_compare_names(const struct perflog_row *x, const struct perflog_row *y)
{
    int order = strcmp(x->app, y->app);
    if (order == 0)
        order = strcmp(x->marker, y->marker);
    if (order == 0 && !*x->marker)
        order = (x->id > y->id) - (x->id < y->id);
    return order ? order : x->in_ticks - y->in_ticks;
}

static struct perflog_row_pair perflog_diff_make_pair(const struct perflog_row *first, const struct perflog_row *second)
{
    const uint64_t total[] = { first ? first->total : 0, second ? second->total : 0 };
    struct perflog_row_pair pair = { .first = first,
                                     .second = second,
                                     .total_change = change_between(total[0], total[1]) };
    if (first && second && first->count && second->count)
        pair.mean_change = change_between(first->mean, second->mean);
    return pair;
}

static int perflog_diff_compare_pairs(const void *a, const void *b, void *data)
{
    const struct perflog_row_pair *x = a, *y = b;
    const char *key = data;
    const bool by_mean = strcmp(key, "mean") == 0;
    const bool x_ticks = (x->first ? x->first : x->second)->in_ticks,
               y_ticks = (y->first ? y->first : y->second)->in_ticks;
    if (strcmp(key, "name") != 0 && x_ticks != y_ticks)
        return x_ticks - y_ticks;
    const int64_t of_x = llabs(by_mean ? x->mean_change : x->total_change);
    const int64_t of_y = llabs(by_mean ? y->mean_change : y->total_change);
    if (strcmp(key, "name") != 0 && of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return perflog_diff_compare_names(x->first ? x->first : x->second, y->first ? y->first : y->second);
}

/* Matches the rows of both logs, which are sorted by name. */
static size_t perflog_diff_match_rows(struct perflog_row_pair *pairs, const struct perflog_row *first,
                                      size_t first_count, const struct perflog_row *second, size_t second_count)
{
    size_t i = 0, j = 0, count = 0;
    while (i < first_count || j < second_count) {
        const int order = i == first_count    ? 1
                          : j == second_count ? -1
                                              : perflog_diff_compare_names(&first[i], &second[j]);
        pairs[count++] = perflog_diff_make_pair(order <= 0 ? &first[i] : NULL, order >= 0 ? &second[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
    return count;
}

/* Ticks of an unknown resolution have no times, but a change in percent. */
static void perflog_diff_fill_changes(struct cell *cells, const struct perflog_row_pair *pair, bool in_ticks)
{
    const struct perflog_row *first = pair->first, *second = pair->second;
    const uint64_t total = first ? first->total : 0;
    if (first && second && first->count && second->count) {
        if (!in_ticks)
            cell_change(&cells[7], pair->mean_change);
        fill_change_percent(&cells[8], pair->mean_change, first->mean);
    }
    if (!in_ticks)
        cell_change(&cells[11], pair->total_change);
    fill_change_percent(&cells[12], pair->total_change, total);
}

static void perflog_diff_fill_row(struct cell *cells, const struct perflog_row_pair *pair)
{
    const struct perflog_row *sides[] = { pair->first, pair->second };
    const struct perflog_row *any = pair->first ? pair->first : pair->second;
    cell_text(&cells[0], any->app);
    cell_text(&cells[1], any->marker);
    cell_text(&cells[2], !pair->first ? "second" : !pair->second ? "first" : "both");
    for (int i = 0; i < 2; i++) {
        if (!sides[i])
            continue;
        cell_number(&cells[3 + i], sides[i]->count);
        if (sides[i]->in_ticks)
            continue;
        if (sides[i]->count)
            cell_number(&cells[5 + i], sides[i]->mean);
        cell_number(&cells[9 + i], sides[i]->total);
    }
    perflog_diff_fill_changes(cells, pair, any->in_ticks);
}

/* The application that all rows have, or NULL. Rows are sorted by application. */
static const char *perflog_diff_only_app(const struct perflog_row *rows, size_t count)
{
    return count && strcmp(rows[0].app, rows[count - 1].app) == 0 ? rows[0].app : NULL;
}

/* If each log has only one application, they are taken as versions of one application even if their names differ. */
static void perflog_diff_unify_apps(const struct perflog_row *first, size_t first_count, struct perflog_row *second,
                                    size_t second_count)
{
    const char *before = perflog_diff_only_app(first, first_count),
               *after = perflog_diff_only_app(second, second_count);
    char quoted[2][QUOTE_ROOM];
    if (!before || !after || strcmp(before, after) == 0)
        return;
    say("the logs are of two applications, '%s' and '%s': only the names of markers are compared",
        quote(quoted[0], before, strlen(before)), quote(quoted[1], after, strlen(after)));
    for (size_t i = 0; i < second_count; i++)
        second[i].app = before;
}

struct table view_perflog_diff(const struct perflog *first, const struct perflog *second,
                               const struct perflog_choice *choice)
{
    size_t first_count, second_count;
    struct perflog_row *first_rows = perflog_rows(first, false, &first_count);
    struct perflog_row *second_rows = perflog_rows(second, false, &second_count);
    perflog_diff_unify_apps(first_rows, first_count, second_rows, second_count);
    struct perflog_row_pair *pairs = need_memory(first_count + second_count, sizeof *pairs);
    const size_t count = perflog_diff_match_rows(pairs, first_rows, first_count, second_rows, second_count);
    qsort_r(pairs, count, sizeof *pairs, perflog_diff_compare_pairs, (void *)choice->sort);
    struct table t = table_make(columns, COLUMNS, NULL);
    t.unit_groups = groups;
    const size_t shown = choice->limit && choice->limit < count ? choice->limit : count;
    for (size_t i = 0; i < shown; i++)
        perflog_diff_fill_row(table_row(&t), &pairs[i]);
    t.hidden_rows = count - shown;
    free(pairs);
    free(first_rows);
    free(second_rows);
    return t;
}
