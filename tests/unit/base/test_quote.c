/* Others' text in messages: one line, no control characters, whole characters. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/quote.h"

TestSuite(unit_quote, .timeout = 60);

static void expect(const char *text, const char *wanted)
{
    char to[QUOTE_ROOM];
    cr_assert(eq(str, quote(to, text, strlen(text)), (char *)wanted));
}

Test(unit_quote, as_it_is)
{
    expect("", "");
    expect("Gr\xc3\xb6\xc3\x9f"
           "e",
           "Gr\xc3\xb6\xc3\x9f"
           "e");
    expect("123456789 123456789 123456789 123456789 123456789 123456789 123",
           "123456789 123456789 123456789 123456789 123456789 123456789 123");
}

Test(unit_quote, without_control_characters)
{
    expect("a\x1b[31m\r\n\t\x7f", "a?[31m????");
}

Test(unit_quote, cut_between_characters)
{
    expect("123456789 123456789 123456789 123456789 123456789 123456789 1234",
           "123456789 123456789 123456789 123456789 123456789 123456789 ...");
    expect("123456789 123456789 123456789 123456789 123456789 123456789\xe2\x82\xac 123",
           "123456789 123456789 123456789 123456789 123456789 123456789...");
}
