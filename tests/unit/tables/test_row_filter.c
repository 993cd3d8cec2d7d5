/* Tests which rows remain under given conditions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/success.h"
#include "tables/row_filter.h"

static const struct column columns[] = {
    { "name", "NAME", CELL_TEXT, USE_ALWAYS, true },
    { "count", "COUNT", CELL_COUNT, USE_ALWAYS, false },
    { "time", "TIME", CELL_TICKS, USE_ALWAYS, false },
    { "share", "%", CELL_PERCENT, USE_ALWAYS, false },
};

/* a 1 (b 2 (c 3), d 4), e 5: times are the counts in microseconds, shares ten times the counts. Those of d are
 * unknown. */
static struct table row_filter_table(const struct summary *session)
{
    static const size_t parents[] = { 0, 1, 2, 1, 0 };
    struct table t = table_make(columns, 4, session);
    t.parents = calloc(5, sizeof *t.parents);
    for (unsigned i = 0; i < 5; i++) {
        struct cell *cells = table_row(&t);
        cell_text(&cells[0], (const char[]){ (char)('a' + i), '\0' });
        t.parents[i] = parents[i];
        if (i == 3)
            continue;
        cell_number(&cells[1], i + 1);
        cell_number(&cells[2], (i + 1) * 1000);
        cell_percent(&cells[3], 10.0 * (i + 1));
    }
    return t;
}

static void row_filter_check(bool tree, const char *condition, const char *more, const char *expected)
{
    struct row_filters f = { 0 };
    struct table t = row_filter_table(NULL);
    if (!tree) {
        free(t.parents);
        t.parents = NULL;
    }
    EXPECT_SUCCESS(row_filters_add(&f, condition, &error));
    if (more)
        EXPECT_SUCCESS(row_filters_add(&f, more, &error));
    EXPECT_SUCCESS(table_filter(&t, &f, &error));
    char left[8] = "";
    for (size_t i = 0; i < t.row_count; i++)
        left[i] = t.cells[i * t.column_count].text[0];
    cr_assert(eq(str, left, (char *)expected), "%s", condition);
    table_drop(&t);
    row_filters_drop(&f);
}

Test(unit_row_filter, comparisons)
{
    row_filter_check(false, "name~[bd]", NULL, "bd");
    row_filter_check(false, "name!~[bd]", NULL, "ace");
    row_filter_check(false, "name=c", NULL, "c");
    row_filter_check(false, "name!=c", NULL, "abde");
    row_filter_check(false, "count=2", NULL, "b");
    row_filter_check(false, "count!=2", NULL, "ace");
    row_filter_check(false, "count<3", NULL, "ab");
    row_filter_check(false, "count<=3", NULL, "abc");
    row_filter_check(false, "count>3", NULL, "e");
    row_filter_check(false, " count >= 3 ", NULL, "ce");
    row_filter_check(false, "time>2us", NULL, "ce");
    row_filter_check(false, "time_ns>=0.002ms", NULL, "bce");
    row_filter_check(false, "time>0", NULL, "abce");
    row_filter_check(false, "share>=30%", NULL, "ce");
    row_filter_check(false, "share<20", NULL, "a");
    row_filter_check(false, "count>9", NULL, "");
}

Test(unit_row_filter, all_conditions_hold)
{
    row_filter_check(false, "count>1", "name!=c", "be");
    row_filter_check(false, "count>1", "count<2", "");
}

Test(unit_row_filter, callers_of_a_row_stay)
{
    row_filter_check(true, "name=c", NULL, "abc");
    row_filter_check(true, "name=d", NULL, "ad");
    row_filter_check(true, "count>4", NULL, "e");
}

Test(unit_row_filter, branches_keep_their_place)
{
    struct row_filters f = { 0 };
    struct table t = row_filter_table(NULL);
    EXPECT_SUCCESS(row_filters_add(&f, "name~[de]", &error));
    EXPECT_SUCCESS(table_filter(&t, &f, &error));
    cr_assert(eq(sz, t.row_count, 3));
    cr_assert(eq(sz, t.parents[0], 0));
    cr_assert(eq(sz, t.parents[1], 1));
    cr_assert(eq(sz, t.parents[2], 0));
    table_drop(&t);
    row_filters_drop(&f);
}

Test(unit_row_filter, a_row_that_always_stays)
{
    struct row_filters f = { 0 };
    struct table t = row_filter_table(NULL);
    free(t.parents);
    t.parents = NULL;
    t.fixed_row = 3;
    EXPECT_SUCCESS(row_filters_add(&f, "count=1", &error));
    EXPECT_SUCCESS(table_filter(&t, &f, &error));
    cr_assert(eq(sz, t.row_count, 2));
    cr_assert(eq(str, t.cells[4].text, "c"));
    table_drop(&t);
    row_filters_drop(&f);
}

/* Ticks are compared as times, samples as numbers. */
Test(unit_row_filter, times_are_compared_by_the_sessions_clock)
{
    const struct summary slow = { .ticks_per_second = 1000000 }, samples = { .samples = true };
    struct row_filters f = { 0 }, g = { 0 };
    struct table t = row_filter_table(&slow), u = row_filter_table(&samples);
    EXPECT_SUCCESS(row_filters_add(&f, "time>=3ms", &error));
    EXPECT_SUCCESS(table_filter(&t, &f, &error));
    cr_assert(eq(sz, t.row_count, 4)); /* c and e, and a and b above c */
    EXPECT_SUCCESS(row_filters_add(&g, "time>=5000", &error));
    EXPECT_SUCCESS(table_filter(&u, &g, &error));
    cr_assert(eq(sz, u.row_count, 1));
    table_drop(&t);
    table_drop(&u);
    row_filters_drop(&f);
    row_filters_drop(&g);
}
