/* Foreign text in messages is cut between characters. Printing makes its control characters visible. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/quote.h"

TestSuite(unit_quote, .timeout = 300);

static void expect_quoted(const char *text, const char *wanted)
{
    char to[QUOTE_ROOM];
    cr_assert(eq(str, quote(to, text, strlen(text)), (char *)wanted));
}

Test(unit_quote, printable_text_stays_as_it_is)
{
    expect_quoted("", "");
    expect_quoted("Gr\xc3\xb6\xc3\x9f"
                  "e",
                  "Gr\xc3\xb6\xc3\x9f"
                  "e");
    expect_quoted("123456789 123456789 123456789 123456789 123456789 123456789 123",
                  "123456789 123456789 123456789 123456789 123456789 123456789 123");
}

Test(unit_quote, control_characters_stay_for_the_printer)
{
    expect_quoted("a\x1b[31m\r\n\t\x7f", "a\x1b[31m\r\n\t\x7f");
    char to[QUOTE_ROOM];
    cr_assert(eq(str, quote(to, "a\0b", 3), "a?b"));
}

Test(unit_quote, long_text_is_cut_between_characters)
{
    expect_quoted("123456789 123456789 123456789 123456789 123456789 123456789 1234",
                  "123456789 123456789 123456789 123456789 123456789 123456789 ...");
    expect_quoted("123456789 123456789 123456789 123456789 123456789 123456789\xe2\x82\xac 123",
                  "123456789 123456789 123456789 123456789 123456789 123456789...");
}
