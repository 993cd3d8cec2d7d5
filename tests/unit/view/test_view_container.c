/* The container of a page's numbers. Each column has the smallest type that holds it, to the byte. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/viewed.h"
#include "view/base64.h"
#include "view/container.h"

TestSuite(unit_view_container);

struct element {
    uint64_t small, word, wide, huge;
    int32_t sign;
    uint32_t narrow;
};

static const struct element elements[] = {
    { 0, 0x100, 0x10000, 0x100000000, -1, 7 },
    { 255, 0xffff, 0xffffffff, (1ull << 53) - 1, INT32_MAX, 0xffffffff },
    { 1, 2, 3, 4, INT32_MIN, 5 },
};

#define COLUMN(member, number, order)                                                                                  \
    {                                                                                                                  \
#member, &elements->member, sizeof *elements, number, order                                                    \
    }

static struct viewed view_container_write(const struct container_table *tables, size_t count)
{
    struct packed packed;
    struct json_object *header = json_object_new_object();
    json_object_object_add(header, "name", json_object_new_string("größe <\"&>"));
    cr_assert(container_pack(header, tables, count, &packed));
    struct viewed v = viewed_packed(packed.bytes, packed.length);
    packed_drop(&packed);
    return v;
}

Test(unit_view_container, types_hold_their_largest_values)
{
    const struct container_column columns[] = {
        COLUMN(small, CONTAINER_U64, NULL), COLUMN(word, CONTAINER_U64, NULL), COLUMN(wide, CONTAINER_U64, NULL),
        COLUMN(huge, CONTAINER_U64, NULL),  COLUMN(sign, CONTAINER_I32, NULL), COLUMN(narrow, CONTAINER_U32, NULL),
    };
    static const char *const types[] = { "u8", "u16", "u32", "f64", "i32", "u32" };
    const struct container_table table = { "things", 3, columns, 6 };
    struct viewed v = view_container_write(&table, 1);
    cr_assert(eq(str, (char *)viewed_text(v.header, "name"), "größe <\"&>"));
    cr_assert(eq(sz, viewed_rows(&v, "things"), 3));
    for (size_t i = 0; i < 6; i++)
        cr_assert(eq(str, (char *)viewed_type(&v, "things", columns[i].name), (char *)types[i]));
    for (size_t row = 0; row < 3; row++) {
        const struct element *e = &elements[row];
        cr_assert(eq(dbl, viewed_number(&v, "things", "small", row), (double)e->small));
        cr_assert(eq(dbl, viewed_number(&v, "things", "word", row), (double)e->word));
        cr_assert(eq(dbl, viewed_number(&v, "things", "wide", row), (double)e->wide));
        cr_assert(eq(dbl, viewed_number(&v, "things", "huge", row), (double)e->huge));
        cr_assert(eq(dbl, viewed_number(&v, "things", "sign", row), e->sign));
        cr_assert(eq(dbl, viewed_number(&v, "things", "narrow", row), e->narrow));
    }
    viewed_drop(&v);
}

Test(unit_view_container, rows_in_an_order)
{
    static const uint32_t order[] = { 2, 0 };
    const struct container_column columns[] = { COLUMN(small, CONTAINER_U64, order),
                                                COLUMN(wide, CONTAINER_U64, NULL) };
    const struct container_table tables[] = { { "none", 0, columns, 2 }, { "two", 2, columns, 2 } };
    struct viewed v = view_container_write(tables, 2);
    cr_assert(eq(sz, viewed_rows(&v, "none"), 0));
    cr_assert(eq(dbl, viewed_number(&v, "two", "small", 0), 1));
    cr_assert(eq(dbl, viewed_number(&v, "two", "small", 1), 0));
    cr_assert(eq(dbl, viewed_number(&v, "two", "wide", 0), 0x10000));
    viewed_drop(&v);
}

/* Longer than a single write. */
Test(unit_view_container, many_rows)
{
    enum { ROWS = 100003 };
    uint64_t *numbers = malloc(ROWS * sizeof *numbers);
    for (uint64_t i = 0; i < ROWS; i++)
        numbers[i] = i * 31;
    const struct container_column column = { "number", numbers, sizeof *numbers, CONTAINER_U64, NULL };
    const struct container_table table = { "all", ROWS, &column, 1 };
    struct packed packed;
    cr_assert(container_pack(json_object_new_object(), &table, 1, &packed));
    struct viewed v = viewed_packed(packed.bytes, packed.length);
    cr_assert(eq(str, (char *)viewed_type(&v, "all", "number"), "u32"));
    for (size_t i = 0; i < ROWS; i++)
        cr_assert(eq(dbl, viewed_number(&v, "all", "number", i), (double)numbers[i]));
    viewed_drop(&v);
    packed_drop(&packed);
    free(numbers);
}

Test(unit_view_container, base64)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = { { "", "" },        { "f", "Zg==" },          { "fo", "Zm8=" },
                  { "foo", "Zm9v" }, { "foobar", "Zm9vYmFy" }, { "\xfb\xff\xfe", "+//+" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        base64_write(cases[i].bytes, strlen(cases[i].bytes), out);
        fclose(out);
        cr_assert(eq(str, text, (char *)cases[i].text));
        free(text);
    }
}
