/* Times in one unit and in their own, and the choice of units. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_unit.h"

static void time_unit_expect(uint64_t ns, const char *unit, const char *wanted)
{
    char text[TIME_TEXT];
    time_text(ns, time_unit_named(unit), text);
    cr_assert(eq(str, text, (char *)wanted), "%s", unit);
}

Test(unit_time_unit, short_times_have_three_digits)
{
    time_unit_expect(10407537000, "s", "10.408");
    time_unit_expect(104075370, "s", "0.104");
    time_unit_expect(99999999, "s", "0.100");
    time_unit_expect(31249999, "s", "0.0312");
    time_unit_expect(512000, "s", "0.000512");
    time_unit_expect(512, "s", "0.000000512");
    time_unit_expect(1, "s", "0.000000001");
    time_unit_expect(250000000, "ms", "250.000");
    time_unit_expect(16, "ms", "0.000016");
    time_unit_expect(16, "us", "0.016");
    time_unit_expect(16, "ns", "16");
    time_unit_expect(UINT64_MAX, "ns", "18446744073709551615");
    time_unit_expect(UINT64_MAX, "s", "18446744073.710");
}

Test(unit_time_unit, only_zero_looks_like_zero)
{
    static const char *const units[] = { "s", "ms", "us", "ns" };
    for (int i = 0; i < 4; i++) {
        time_unit_expect(0, units[i], "0");
        for (uint64_t ns = 1; ns < 2000000000; ns = ns * 3 / 2 + 1) {
            char text[TIME_TEXT];
            time_text(ns, time_unit_named(units[i]), text);
            const double shown = strtod(text, NULL) * (double)time_unit_named(units[i])->ns;
            cr_assert(fabs(shown - (double)ns) <= (double)ns / 200, "%s %s is not %g ns", text, units[i], (double)ns);
        }
    }
}

Test(unit_time_unit, one_time)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = { { 0, "0 ns" },
                  { 16, "16 ns" },
                  { 999, "999 ns" },
                  { 1000, "1.000 us" },
                  { 250000000, "250.000 ms" },
                  { 10407537000, "10.408 s" },
                  { 86400000000000, "86400.000 s" } };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[TIME_TEXT];
        time_text_with_unit(times[i].ns, text);
        cr_assert(eq(str, text, (char *)times[i].text));
    }
}

Test(unit_time_unit, one_unit_for_many_times)
{
    static const struct {
        uint64_t longest;
        const char *unit;
    } sets[] = { { 0, "us" },          { 999, "ns" },       { 1000, "us" },       { 9999999, "us" },
                 { 10000000, "ms" },   { 999999999, "ms" }, { 9999999999, "ms" }, { 10000000000, "s" },
                 { 10407537000, "s" }, { UINT64_MAX, "s" } };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        cr_assert(eq(str, (char *)time_unit_for_all(sets[i].longest)->name, (char *)sets[i].unit), "%g",
                  (double)sets[i].longest);
}

Test(unit_time_unit, moments_have_all_digits)
{
    char text[TIME_TEXT];
    time_text_exact(10407537123, time_unit_named("s"), text);
    cr_assert(eq(str, text, "10.407537123"));
    time_text_exact(7, time_unit_named("ms"), text);
    cr_assert(eq(str, text, "0.000007"));
    time_text_exact(0, time_unit_named("us"), text);
    cr_assert(eq(str, text, "0.000"));
    cr_assert(zero(ptr, (void *)time_unit_named("minutes")));
}
