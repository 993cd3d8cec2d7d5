/* Columns and sentences that fit the width of a terminal. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <locale.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/text_fit.h"
#include "report/text_lines.h"

static void text_fit_use_utf8(void)
{
    cr_assert(setlocale(LC_ALL, "C.UTF-8") != NULL);
}

TestSuite(unit_text_fit, .init = text_fit_use_utf8);

static const struct column columns[] = {
    { .key = "calls", .title = "CALLS", .kind = CELL_COUNT },
    { .key = "reason", .title = "REASON", .kind = CELL_TEXT },
    { .key = "function", .title = "FUNCTION", .kind = CELL_NAME },
};
enum { COUNT = sizeof columns / sizeof *columns };

/* The widths of the reason and of the name, in cells. */
struct fitted {
    size_t reason, name;
};

/* Of a table whose widest cells are that wide, with numbers of 5 cells. */
static struct fitted fit(size_t reason, size_t name, size_t terminal)
{
    struct table t = table_make(columns, COUNT, NULL);
    size_t order[COUNT] = { 0, 1, 2 }, widths[COUNT] = { 5, reason, name };
    struct text_columns c = { .table = &t, .order = order, .widths = widths, .count = COUNT, .name_room = NAME_ROOM };
    text_fit_share(&c, terminal);
    table_drop(&t);
    return (struct fitted){ widths[1], widths[2] };
}

static void expect_fit(size_t reason, size_t name, size_t terminal, struct fitted wanted)
{
    const struct fitted f = fit(reason, name, terminal);
    cr_expect(eq(sz, f.reason, wanted.reason), "%zu, %zu in %zu", reason, name, terminal);
    cr_expect(eq(sz, f.name, wanted.name), "%zu, %zu in %zu", reason, name, terminal);
}

/* The line has 5 cells of numbers and two blanks besides. */
Test(unit_text_fit, texts_of_moderate_width_get_as_much_room_as_names)
{
    expect_fit(20, 60, 66, (struct fitted){ 20, 39 });
    expect_fit(24, 60, 66, (struct fitted){ 24, 35 });
    expect_fit(24, 60, 53, (struct fitted){ 22, 24 }); /* both have 2 * 11, and the name at least its usual room */
    expect_fit(20, 60, 41, (struct fitted){ 10, 24 });
    expect_fit(20, 60, 200, (struct fitted){ 20, 60 });
}

Test(unit_text_fit, wider_texts_get_half_as_much_as_names)
{
    expect_fit(25, 60, 66, (struct fitted){ 19, 40 });
    expect_fit(60, 60, 66, (struct fitted){ 19, 40 });
}

/* Unlike numbers and short texts, which are never cut. */
Test(unit_text_fit, no_line_is_wider_than_the_terminal)
{
    for (size_t terminal = 41; terminal < 150; terminal++)
        for (size_t reason = 0; reason < 70; reason++) {
            const struct fitted f = fit(reason, 60, terminal);
            cr_assert(le(sz, 5 + 1 + f.reason + 1 + f.name, terminal), "%zu in %zu", reason, terminal);
        }
}

/* Numbers leave a narrow line from the right, but for the first one and that by which rows are sorted. */
Test(unit_text_fit, the_number_that_sorts_stays)
{
    static const struct column numbers[] = {
        { .key = "first", .title = "FIRST", .kind = CELL_COUNT },
        { .key = "second", .title = "SECOND", .kind = CELL_COUNT },
        { .key = "third", .title = "THIRD", .kind = CELL_COUNT },
        { .key = "fourth", .title = "FOURTH", .kind = CELL_COUNT },
        { .key = "function", .title = "FUNCTION", .kind = CELL_NAME },
    };
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    for (size_t sorted = 0; sorted < NUMBERS; sorted++) {
        struct table t = table_make(numbers, NUMBERS, NULL);
        size_t order[NUMBERS] = { 0, 1, 2, 3, 4 }, widths[NUMBERS] = { 6, 6, 6, 6, 60 };
        struct text_columns c = {
            .table = &t, .order = order, .widths = widths, .count = NUMBERS, .name_room = NAME_ROOM
        };
        t.sort_column = sorted;
        text_fit(&c, 30);
        cr_expect(eq(sz, c.count, 3), "%zu", sorted);
        cr_expect(eq(sz, order[0], 0), "%zu", sorted);
        cr_expect(eq(sz, order[1], sorted > 1 ? sorted - 1 : 1), "%zu", sorted);
        cr_expect(eq(sz, order[2], NUMBERS - 1), "%zu", sorted);
        table_drop(&t);
    }
}

static void expect_lines(const char *name, const char *text, size_t width, const char *wanted)
{
    char *lines;
    size_t length;
    FILE *out = need_stream(&lines, &length);
    if (name)
        text_put_named_lines(out, name, 8, text, width);
    else
        text_put_lines(out, text, width);
    need_stream_end(out);
    cr_expect(eq(str, lines, (char *)wanted), "%zu", width);
    free(lines);
}

Test(unit_text_fit, sentences_are_broken_between_words)
{
    expect_lines(NULL, "one two three", 0, "one two three\n");
    expect_lines(NULL, "one two three", 13, "one two three\n");
    expect_lines(NULL, "one two three", 12, "one two\nthree\n");
    expect_lines(NULL, "one two three", 3, "one\ntwo\nthree\n");
    expect_lines(NULL, "größe größe", 11, "größe größe\n");
    expect_lines(NULL, "a\x1b[2J b", 7, "a\\x1b[2J\nb\n");
    expect_lines(NULL, "", 10, "\n");
}

Test(unit_text_fit, further_lines_begin_below_the_text)
{
    expect_lines("name", "one two three", 0, "name    one two three\n");
    expect_lines("name", "one two three", 16, "name    one two\n        three\n");
    expect_lines("name", "counted since 3 ms", 20, "name    counted\n        since 3 ms\n");
    expect_lines("name", "  the first  and", 20, "name      the first\n        and\n");
    expect_lines("a long name", "one", 80, "a long name one\n");
}
