/* Columns, keys and conditions that a table has not, by the exact text of the error. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/memory.h"
#include "comparison/diff.h"
#include "support/example.h"
#include "support/exported.h"
#include "support/success.h"
#include "tables/row_order.h"
#include "tables/views.h"

TestSuite(unit_report_errors);

Test(unit_report_errors, columns_and_keys)
{
    struct analysis analysis = loaded_of(example_small());
    struct table t = view_rows(&analysis, BY_FUNCTION, &(struct sorting){ 0 });
    const size_t rows = t.row_count;
    EXPECT_ERROR(table_sort(&t, "cals", &error),
                 "--sort: no column 'cals' here; did you mean 'calls'? --columns help lists them");
    EXPECT_ERROR(table_choose(&t, "calls,xyz", &error), "--columns: no column 'xyz'; --columns help lists them");
    EXPECT_SUCCESS(table_choose(&t, "calls", &error));
    cr_assert(eq(sz, t.row_count, rows));
    table_drop(&t);
    analysis_drop(&analysis);
}

static void report_errors_expect(struct table *t, const char *condition, const char *wanted)
{
    struct row_filters f = { 0 };
    const size_t rows = t->row_count;
    EXPECT_SUCCESS(row_filters_add(&f, condition, &error));
    EXPECT_ERROR(table_filter(t, &f, &error), wanted);
    cr_assert(eq(sz, t->row_count, rows));
    row_filters_drop(&f);
}

Test(unit_report_errors, conditions)
{
    struct analysis analysis = loaded_of(example_small());
    struct table t = view_rows(&analysis, BY_FUNCTION, &(struct sorting){ 0 });
    struct row_filters f = { 0 };
    EXPECT_ERROR(row_filters_add(&f, ">1", &error),
                 "'>1' is not a condition such as 'name~parse*', 'calls>100' or 'elapsed_exclusive>1ms'");
    cr_assert(eq(sz, f.count, 0));
    row_filters_drop(&f);
    report_errors_expect(
        &t, "xyz>1",
        "--filter 'xyz>1': no column 'xyz' here; --columns help lists them, and name stands for the row's name");
    report_errors_expect(&t, "function>1", "--filter 'function>1': 'function' is text: use ~, !~, = or !=");
    report_errors_expect(&t, "calls~1", "--filter 'calls~1': 'calls' is a number: use =, !=, <, <=, > or >=");
    report_errors_expect(&t, "calls>x", "--filter 'calls>x': 'x' is not a number");
    report_errors_expect(&t, "elapsed_exclusive>1",
                         "--filter 'elapsed_exclusive>1': '1' is not a time such as 500ns, 10us, 2.5ms or 1s");
    table_drop(&t);
    analysis_drop(&analysis);
}

Test(unit_report_errors, samples_and_times)
{
    struct analysis times = loaded_of(example_small());
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    EXPECT_SUCCESS(diff_add(d, DIFF_BEFORE, &times, &error));
    times.summary.samples = true;
    times.summary.path = "samples.data";
    char *wanted = need_text("samples.data: its values are samples, those of %s are not", times.file->path);
    EXPECT_ERROR(diff_add(d, DIFF_AFTER, &times, &error), wanted);
    free(wanted);
    diff_free(d);
    analysis_drop(&times);
}
