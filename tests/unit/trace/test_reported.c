/* Rows of imported reports: the limits of their values. */
#include "trace/reported_rows.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

static const uint64_t most = (uint64_t)1 << 60;

static struct dwell_rec_reported good_row(void)
{
    return (struct dwell_rec_reported){ .kind = DWELL_REPORTED_FUNCTION,
                                        .function = 1,
                                        .elapsed_inclusive = most,
                                        .elapsed_exclusive = most,
                                        .application_inclusive = most,
                                        .application_exclusive = most,
                                        .calls = most };
}

#define ASSERT_BAD(member, value)                                                                                      \
    do {                                                                                                               \
        struct dwell_rec_reported row_ = good_row();                                                                   \
        row_.member = (value);                                                                                         \
        cr_assert(not(reported_is_plausible(&row_)));                                                                  \
    } while (0)

Test(unit_reported_limits, amounts)
{
    struct dwell_rec_reported row = good_row();
    cr_assert(reported_is_plausible(&row));
    ASSERT_BAD(function, 0);
    ASSERT_BAD(elapsed_inclusive, most + 1);
    ASSERT_BAD(elapsed_exclusive, most + 1);
    ASSERT_BAD(calls, most + 1);
    ASSERT_BAD(elapsed_inclusive, most - 1); /* less than the application time */
    ASSERT_BAD(elapsed_exclusive, most - 1);
}

Test(unit_reported_limits, kinds)
{
    for (uint32_t kind = 0; kind <= DWELL_REPORTED_MODULE + 1; kind++) {
        struct dwell_rec_reported row = good_row();
        row.kind = kind;
        const bool known = kind >= DWELL_REPORTED_FUNCTION && kind <= DWELL_REPORTED_MODULE;
        cr_assert(eq(int, reported_is_plausible(&row), known &&kind != DWELL_REPORTED_CALLEE));
        row.other = 2;
        cr_assert(eq(int, reported_is_plausible(&row), known));
    }
}

/* Values of columns that are not stated do not count. */
Test(unit_reported_limits, columns)
{
    for (unsigned i = 0; i < DWELL_STATED_COLUMNS; i++) {
        const double bad[] = { -0.5, NAN, INFINITY, 0x1.0000000000001p60 }, good[] = { 0, 0.5, 0x1p60 };
        for (unsigned j = 0; j < 4; j++) {
            struct dwell_stated stated = { .columns = (uint64_t)1 << i };
            stated.values[i] = bad[j];
            cr_assert(not(reported_columns_are_plausible(&stated)), "%u: %g", i, bad[j]);
            stated.columns = ~stated.columns;
            cr_assert(reported_columns_are_plausible(&stated), "%u: %g", i, bad[j]);
        }
        for (unsigned j = 0; j < 3; j++) {
            struct dwell_stated stated = { .columns = (uint64_t)1 << i };
            stated.values[i] = good[j];
            cr_assert(reported_columns_are_plausible(&stated));
        }
    }
}
