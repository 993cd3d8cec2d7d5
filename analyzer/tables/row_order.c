/* Sorts the rows of a table by a column; other columns break ties, and the rows of a tree stay below their parent. */
#include "tables/row_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { TIE_COUNT = 3 };

struct row_order {
    const struct table *table;
    size_t column;
    size_t last;  /* a column; rows in which it is unknown come last. May be no column */
    size_t calls; /* a column: rows whose value is unknown, as their calls were only counted, follow it. May be none */
    size_t ties[TIE_COUNT]; /* columns that break ties before all others. May be none */
};

/* The least number for what is none. */
static long double row_order_digits(const char *text)
{
    const long double number = strtold(text, NULL); /* exact for all integers of 64 bits */
    return isnan(number) ? -(long double)INFINITY : number;
}

static int row_order_compare_digits(const char *a, const char *b)
{
    const long double x = row_order_digits(a), y = row_order_digits(b);
    return x != y ? (x < y) - (x > y) : strcmp(a, b);
}

static int row_order_compare_cells(const struct column *column, const struct cell *a, const struct cell *b)
{
    if (!a->known || !b->known)
        return b->known - a->known;
    if (column_is_words(column))
        return strcmp(a->text, b->text);
    if (column->kind == CELL_DIGITS)
        return row_order_compare_digits(a->text, b->text);
    if (column->kind == CELL_PERCENT)
        return (a->percent < b->percent) - (a->percent > b->percent);
    return (a->number < b->number) - (a->number > b->number); /* largest first */
}

/* Compares by the chosen column, then by those for ties, then by all others, so that the order does not depend on how
 * the work was split. */
static int row_order_compare_rows(const void *a, const void *b, void *data)
{
    const struct row_order *order = data;
    const struct table *t = order->table;
    const struct cell *x = a, *y = b;
    int result = order->last < t->column_count ? y[order->last].known - x[order->last].known : 0;
    if (result == 0)
        result = row_order_compare_cells(&t->columns[order->column], &x[order->column], &y[order->column]);
    if (result == 0 && !x[order->column].known && order->calls < t->column_count)
        result = row_order_compare_cells(&t->columns[order->calls], &x[order->calls], &y[order->calls]);
    for (size_t i = 0; result == 0 && i < TIE_COUNT; i++)
        if (order->ties[i] < t->column_count)
            result = row_order_compare_cells(&t->columns[order->ties[i]], &x[order->ties[i]], &y[order->ties[i]]);
    for (size_t i = 0; result == 0 && i < t->column_count; i++)
        result = row_order_compare_cells(&t->columns[i], &x[i], &y[i]);
    return result;
}

/* The column of that key, or `otherwise`. */
static size_t row_order_column(const struct table *t, const char *key, size_t otherwise)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].key, key) == 0)
            return i;
    return otherwise;
}

static bool row_order_find_column(const struct table *t, const char *key, size_t *found, struct error *error)
{
    *found = table_find_column(t, 0, key, strlen(key));
    if (*found < t->column_count)
        return true;
    if (strcmp(key, "name") != 0)
        return error_set(error, "--sort: no column '%s' here%s --columns help lists them", key,
                         table_suggestion(t, 0, key));
    *found = row_order_column(t, "function", 0);
    return true;
}

/* ---- trees ---- */

struct row_tree {
    const struct row_order *order;
    size_t *children, *begin; /* children of row i - 1 (roots for 0): from begin[i] up to begin[i + 1] */
};

static int row_order_compare_children(const void *a, const void *b, void *data)
{
    const struct row_order *order = data;
    const struct table *t = order->table;
    return row_order_compare_rows(&t->cells[*(const size_t *)a * t->column_count],
                                  &t->cells[*(const size_t *)b * t->column_count], data);
}

static void row_order_list_children(struct row_tree *tree, const struct table *t)
{
    tree->begin = need_memory(t->row_count + 2, sizeof *tree->begin);
    tree->children = need_memory(t->row_count, sizeof *tree->children);
    for (size_t row = 0; row < t->row_count; row++)
        tree->begin[t->parents[row] + 1]++;
    for (size_t i = 1; i <= t->row_count + 1; i++)
        tree->begin[i] += tree->begin[i - 1];
    size_t *next = need_memory(t->row_count + 1, sizeof *next);
    memcpy(next, tree->begin, (t->row_count + 1) * sizeof *next);
    for (size_t row = 0; row < t->row_count; row++)
        tree->children[next[t->parents[row]]++] = row;
    free(next);
    for (size_t i = 0; i <= t->row_count; i++)
        if (tree->begin[i + 1] - tree->begin[i] > 1)
            qsort_r(tree->children + tree->begin[i], tree->begin[i + 1] - tree->begin[i], sizeof *tree->children,
                    row_order_compare_children, (void *)tree->order);
}

/* Sorts a tree, so that parents come before their children. */
static void row_order_sort_tree(struct table *t, const struct row_order *order)
{
    struct row_tree tree = { .order = order };
    row_order_list_children(&tree, t);
    const size_t width = t->column_count;
    struct cell *cells = need_memory(t->row_room * width, sizeof *cells);
    size_t *parents = need_memory(t->row_room, sizeof *parents),
           *places = need_memory(t->row_count + 1, sizeof *places);
    size_t *waiting = need_memory(t->row_count, sizeof *waiting), count = 0, done = 0;
    for (size_t i = tree.begin[1]; i-- > tree.begin[0];)
        waiting[count++] = tree.children[i];
    while (count) {
        const size_t row = waiting[--count];
        memcpy(&cells[done * width], &t->cells[row * width], width * sizeof *cells);
        parents[done] = places[t->parents[row]];
        places[row + 1] = ++done;
        for (size_t i = tree.begin[row + 2]; i-- > tree.begin[row + 1];)
            waiting[count++] = tree.children[i];
    }
    free(t->cells);
    free(t->parents);
    t->cells = cells;
    t->parents = parents;
    free(places);
    free(waiting);
    free(tree.children);
    free(tree.begin);
}

static void row_order_sort_rows(struct table *t, size_t column)
{
    const size_t width = t->column_count, fixed = t->fixed_row, calls = row_order_column(t, "calls", width);
    struct row_order order = { t, column, .last = width, .calls = calls, .ties = { width, width, width } };
    if (t->parents) {
        order.last = row_order_column(t, "module", width);               /* folded rows have no module */
        order.ties[0] = row_order_column(t, "elapsed_inclusive", width); /* as in the page */
        order.ties[1] = calls;
        order.ties[2] = row_order_column(t, "function", width);
    }
    if (!t->row_count)
        return;
    if (t->parents) {
        row_order_sort_tree(t, &order);
        return;
    }
    if (fixed)
        qsort_r(t->cells, fixed - 1, width * sizeof *t->cells, row_order_compare_rows, &order);
    qsort_r(t->cells + fixed * width, t->row_count - fixed, width * sizeof *t->cells, row_order_compare_rows, &order);
}

bool table_sort(struct table *t, const char *key, struct error *error)
{
    size_t column;
    if (!row_order_find_column(t, key, &column, error))
        return false;
    row_order_sort_rows(t, column);
    t->sort_column = column + 1;
    return true;
}
