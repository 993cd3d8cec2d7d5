/* The order of recorded values: numbers of enumerations are signed, or they are not. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tables/recorded_argument.h"
#include "tables/value_ranges.h"

static const uint64_t one = 1, high = UINT64_C(1) << 63;

Test(unit_value_order, unsigned_enumerations_go_beyond_signed_numbers)
{
    const struct recorded_value v = { .kind = DWELL_VALUE_ENUM, .bytes = 8, .unsigned_enum = true };
    cr_expect(eq(int, recorded_value_compare(&v, &high, &one), 1));
    cr_expect(eq(int, recorded_value_compare(&v, &one, &high), -1));
    cr_expect(eq(dbl, recorded_value_number(&v, high), 9223372036854775808.0));
}

Test(unit_value_order, signed_enumerations_have_negative_numbers)
{
    const struct recorded_value v = { .kind = DWELL_VALUE_ENUM, .bytes = 8 };
    cr_expect(eq(int, recorded_value_compare(&v, &high, &one), -1));
    cr_expect(eq(int, recorded_value_compare(&v, &one, &one), 0));
    cr_expect(eq(int, recorded_value_compare(&v, &one, NULL), -1));
    cr_expect(eq(dbl, recorded_value_number(&v, high), -9223372036854775808.0));
}
