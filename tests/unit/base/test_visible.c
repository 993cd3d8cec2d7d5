/* What a terminal would obey becomes an escape. Everything else stays. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/visible.h"

TestSuite(unit_visible, .timeout = 300);

static void visible_expect(const char *text, const char *wanted)
{
    char *shown = visible_text(text);
    cr_assert(eq(str, shown, (char *)wanted));
    free(shown);
}

Test(unit_visible, what_stays)
{
    visible_expect("", "");
    visible_expect("operator\"\"_s(char, ~a) \\n C:\\users\\xavier", "operator\"\"_s(char, ~a) \\n C:\\users\\xavier");
    visible_expect("Gr\u00f6\u00dfe \u00a0 \u4e2d \u200d \U0001f600",
                   "Gr\u00f6\u00dfe \u00a0 \u4e2d \u200d \U0001f600");
}

Test(unit_visible, bytes)
{
    visible_expect("\033[31m\r\n\t\x7f", "\\x1b[31m\\x0d\\x0a\\x09\\x7f");
    visible_expect("\x80\x9b\xff", "\\x80\\x9b\\xff");
    visible_expect("\xe2\x80", "\\xe2\\x80");                            /* half a character */
    visible_expect("\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80"); /* overlong, and a surrogate */
}

Test(unit_visible, characters)
{
    for (unsigned c = 0x80; c < 0xa0; c++) {
        char text[] = { (char)0xc2, (char)c, '\0' }, wanted[8];
        snprintf(wanted, sizeof wanted, "\\u%04x", c);
        visible_expect(text, wanted);
    }
    visible_expect("\u061c\u200e\u200f\u2028\u2029", "\\u061c\\u200e\\u200f\\u2028\\u2029");
    visible_expect("\u202a\u202b\u202c\u202d\u202e", "\\u202a\\u202b\\u202c\\u202d\\u202e");
    visible_expect("\u2066\u2067\u2068\u2069\ufeff", "\\u2066\\u2067\\u2068\\u2069\\ufeff");
    visible_expect("\u200d\u2027\u202f\u2065\u2070", "\u200d\u2027\u202f\\u2065\u2070"); /* beside the ranges */
}

Test(unit_visible, texts_like_escapes)
{
    visible_expect("\\x1b \\x1 \\x1B", "\\x5cx1b \\x1 \\x1B");
    visible_expect("\\u202e \\u202", "\\x5cu202e \\u202");
    visible_expect("\\U0001f600 \\U0001f60", "\\x5cU0001f600 \\U0001f60");
    visible_expect("\\\x1b", "\\\\x1b");
}

Test(unit_visible, what_the_locale_cannot_print)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        cr_skip_test("no locale C.UTF-8");
    visible_expect("\u0378 \U000e0fff \u4e2d", "\\u0378 \\U000e0fff \u4e2d"); /* the first two are unassigned */
    setlocale(LC_CTYPE, "C");
    char *shown = visible_cell("\u00f6\033");
    cr_assert(eq(str, shown, "\\xc3\\xb6\\x1b"));
    free(shown);
}

#define EXPECT_PRINTED(wanted, ...)                                                                                    \
    do {                                                                                                               \
        char *text = NULL;                                                                                             \
        size_t length;                                                                                                 \
        FILE *out = open_memstream(&text, &length);                                                                    \
        print_text(out, __VA_ARGS__);                                                                                  \
        fclose(out);                                                                                                   \
        cr_assert(eq(str, text, wanted));                                                                              \
        free(text);                                                                                                    \
    } while (0)

Test(unit_visible, own_line_breaks_stay)
{
    EXPECT_PRINTED("\na\\x0ab\\x0a\n\n", "\n%s\n\n", "a\nb\n");
    EXPECT_PRINTED("\\x0a", "%s", "\n");
    EXPECT_PRINTED("\n", "%s\n", "");
    EXPECT_PRINTED("\n\nx", "\n\n%s", "x");
    EXPECT_PRINTED("\n\n", "\n\n");
}

Test(unit_visible, a_stream)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length), *stream = visible_stream(out);
    setvbuf(stream, NULL, _IONBF, 0); /* characters come in parts */
    fputs("a\033[m\r\nb \xe2", stream);
    fputs("\x82\xac\u202e", stream);
    fwrite("\0", 1, 1, stream);
    fputs("\nlast\xff", stream);
    cr_assert(eq(int, fclose(stream), 0));
    fclose(out);
    cr_assert(eq(str, text, "a\\x1b[m\nb \u20ac\\u202e?\nlast\\xff"));
    free(text);
}

/* JSON's own escapes restore the text. */
Test(unit_visible, json)
{
    char *text = json_text("a\033\x7f\xc2\x85\u202e\u2028\u00e4\"\n");
    cr_assert(eq(str, text, "\"a\\u001b\\u007f\\u0085\\u202e\\u2028\u00e4\\\"\\n\""));
    free(text);
}
