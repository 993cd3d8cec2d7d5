/* The order of siblings in a tree whose chosen values are equal: that of the page. The order of recorded numbers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/memory.h"
#include "support/success.h"
#include "tables/row_order.h"
#include "tables/table.h"

static const struct column columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, true },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "cpu_inclusive", "CPU", CELL_TICKS, USE_ALWAYS, false },
    { "elapsed_inclusive", "ELAPSED", CELL_TICKS, USE_ALWAYS, false },
};

static void row_order_add(struct table *t, size_t parent, const char *name, uint64_t calls, uint64_t elapsed)
{
    struct cell *row = table_row(t);
    cell_text(&row[0], name);
    cell_text(&row[1], "m");
    cell_number(&row[2], calls);
    cell_number(&row[3], 0);
    cell_number(&row[4], elapsed);
    t->parents = need_more(t->parents, t->row_room, sizeof *t->parents);
    t->parents[t->row_count - 1] = parent;
}

TestSuite(unit_row_order);

Test(unit_row_order, equal_siblings_go_by_elapsed_time_then_calls_then_name)
{
    struct table t = table_make(columns, sizeof columns / sizeof *columns, NULL);
    row_order_add(&t, 0, "main", 1, 9);
    row_order_add(&t, 1, "d", 83, 0);
    row_order_add(&t, 1, "a", 66, 0);
    row_order_add(&t, 1, "c", 66, 0);
    row_order_add(&t, 1, "b", 1, 7);
    row_order_add(&t, 5, "e", 2, 0);
    EXPECT_SUCCESS(table_sort(&t, "cpu_inclusive", &error));
    const char *const wanted[] = { "main", "b", "e", "d", "a", "c" };
    const size_t parents[] = { 0, 1, 2, 1, 1, 1 };
    for (size_t i = 0; i < 6; i++) {
        cr_assert(eq(str, t.cells[i * t.column_count].text, (char *)wanted[i]));
        cr_assert(eq(sz, t.parents[i], parents[i]));
    }
    table_drop(&t);
}

static const struct column digits[] = { { "n", "N", CELL_DIGITS, USE_ALWAYS, false } };

/* The largest first, exact for integers of 64 bits. What is no number is the least, and what is unknown comes last. */
Test(unit_row_order, recorded_numbers_go_by_size)
{
    static const char *const texts[] = { "9",    "nan", NULL,  "18446744073709551614",
                                         "-inf", "-20", "1.5", "18446744073709551615",
                                         "inf",  "-3",  "10" };
    static const char *const wanted[] = {
        "inf", "18446744073709551615", "18446744073709551614", "10", "9", "1.5", "-3", "-20", "-inf", "nan"
    };
    enum { ROWS = sizeof texts / sizeof *texts };
    struct table t = table_make(digits, 1, NULL);
    for (size_t i = 0; i < ROWS; i++)
        cell_text(table_row(&t), texts[i]);
    EXPECT_SUCCESS(table_sort(&t, "n", &error));
    for (size_t i = 0; i + 1 < ROWS; i++)
        cr_assert(eq(str, t.cells[i].text, (char *)wanted[i]));
    cr_assert(not(t.cells[ROWS - 1].known));
    table_drop(&t);
}
