/* Where a function's text begins and ends. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "report/annotate.h"

Test(unit_annotate, the_end_of_a_function)
{
    static const char *const lines[] = {
        "int a(void) { return 1; }", /* 1 */
        "int b(int x,",
        "      int y)",
        "{ /* } */ if (x) {",
        "  puts(\"}\\\"}\"); // }",
        "  c = '}'; d = 1'000'000;", /* 6 */
        "  /* } ",
        "  } */ }",
        "}",
        "int declared(void);", /* 10 */
        "void open(void) {",
        "  {",
    };
    const uint32_t count = sizeof lines / sizeof *lines;
    cr_assert(eq(u32, annotate_find_end(lines, count, 1), 1));
    cr_assert(eq(u32, annotate_find_end(lines, count, 2), 9));
    cr_assert(eq(u32, annotate_find_end(lines, count, 10), 10));
    cr_assert(eq(u32, annotate_find_end(lines, count, 11), 0));
    cr_assert(eq(u32, annotate_find_end(lines, count, 13), 0));
    cr_assert(eq(u32, annotate_find_end_of_body(lines, count, 5), 8));
    cr_assert(eq(u32, annotate_find_end_of_body(lines, count, 10), 0));
}

Test(unit_annotate, the_begin_of_a_function)
{
    static const char *const lines[] = {
        "{", /* 1 */
        "int a(void) {",
        "}",
        "static int",
        "b(int x,",
        "  int y) ", /* 6 */
        "  {",
        "public:",
        "void c()",
        "{",
        "/* void */", /* 11 */
        "  ",
        "{",
    };
    cr_assert(eq(u32, annotate_find_begin(lines, 1), 1));
    cr_assert(eq(u32, annotate_find_begin(lines, 2), 2));
    cr_assert(eq(u32, annotate_find_begin(lines, 7), 4));
    cr_assert(eq(u32, annotate_find_begin(lines, 10), 9));
    cr_assert(eq(u32, annotate_find_begin(lines, 13), 13));
}
