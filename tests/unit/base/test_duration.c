/* Times as text: all units are read, the smaller ones are written. */
#include "base/duration.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(unit_duration, .timeout = 120);

static uint64_t duration_of(const char *text)
{
    uint64_t ns = 0;
    cr_assert(duration_parse(text, &ns), "%s", text);
    return ns;
}

Test(unit_duration, units)
{
    cr_expect(eq(u64, duration_of("500ns"), 500));
    cr_expect(eq(u64, duration_of("10us"), 10000));
    cr_expect(eq(u64, duration_of("2.5ms"), 2500000));
    cr_expect(eq(u64, duration_of("1 s"), 1000000000));
    cr_expect(eq(u64, duration_of("1.5min"), 90000000000));
    cr_expect(eq(u64, duration_of("8h"), 28800000000000));
}

Test(unit_duration, what_is_no_time)
{
    static const char *const texts[] = { "", "10", "s", "10m", "10 hours", "-1s", "1e10s", "nan s", "inf h", "3e5h" };
    uint64_t ns;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect(not(duration_parse(texts[i], &ns)), "%s", texts[i]);
}

Test(unit_duration, text)
{
    char text[DURATION_TEXT];
    duration_text(999, text);
    cr_expect(eq(str, text, "999 ns"));
    duration_text(2500000, text);
    cr_expect(eq(str, text, "2.5 ms"));
    duration_text(28800000000000, text);
    cr_expect(eq(str, text, "28800 s"));
}
