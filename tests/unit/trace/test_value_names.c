/* The names of enumerations in a plan chunk: what they mean, and damaged ones. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/value_names.h"

/* A plan of one function with one value. */
struct plan {
    struct recorded_function function;
    struct recorded_values values;
    uint8_t bytes[1024];
    size_t length;
};

static void names_put(struct plan *p, const void *bytes, size_t length)
{
    memcpy(p->bytes + p->length, bytes, length);
    p->length += length;
}

static void names_begin(struct plan *p, enum dwell_value_kind kind, uint32_t count, uint32_t is_signed)
{
    *p = (struct plan){ .function.value_count = 1 };
    p->function.values[0].kind = kind;
    p->values = (struct recorded_values){ .functions = &p->function, .function_count = 1 };
    names_put(p, &(struct dwell_values_names){ 0, 0, count, is_signed }, sizeof(struct dwell_values_names));
}

static void names_add(struct plan *p, int64_t value, const char *name)
{
    char padded[64] = "";
    const size_t length = strlen(name);
    memcpy(padded, name, length);
    names_put(p, &(struct dwell_value_name){ (uint64_t)value, length }, sizeof(struct dwell_value_name));
    names_put(p, padded, (length + 7) / 8 * 8);
}

static bool names_read(struct plan *p)
{
    return value_names_read(&p->values, p->bytes, p->bytes + p->length);
}

/* "" stands for no name. */
static void names_expect(struct plan *p, int64_t value, const char *expected)
{
    char *text = value_names_text(&p->function.values[0], (uint64_t)value);
    cr_expect(eq(str, text ? text : (char *)"", (char *)expected), "%lld", (long long)value);
    free(text);
}

Test(unit_value_names, values_have_their_first_names)
{
    struct plan p;
    names_begin(&p, DWELL_VALUE_ENUM, 4, 1);
    names_add(&p, 70000, "HIGH");
    names_add(&p, -3, "LOW");
    names_add(&p, 70000, "ALSO_HIGH");
    names_add(&p, 1, "eight888");
    cr_assert(names_read(&p));
    names_expect(&p, 70000, "HIGH");
    names_expect(&p, -3, "LOW");
    names_expect(&p, 1, "eight888");
    names_expect(&p, 0, "");
    names_expect(&p, 70001, "");
    cr_assert(not(p.function.values[0].unsigned_enum));
    value_names_drop(&p.function.values[0]);
}

Test(unit_value_names, flags_are_combined)
{
    struct plan p;
    names_begin(&p, DWELL_VALUE_ENUM, 4, 0);
    names_add(&p, 1, "READ");
    names_add(&p, 2, "WRITE");
    names_add(&p, 3, "BOTH");
    names_add(&p, 16, "RUN");
    cr_assert(names_read(&p));
    names_expect(&p, 3, "BOTH");
    names_expect(&p, 17, "READ|RUN");
    names_expect(&p, 19, "READ|WRITE|RUN");
    names_expect(&p, 0, "");
    names_expect(&p, 8, "");
    names_expect(&p, 20, "");
    cr_assert(p.function.values[0].unsigned_enum);
    value_names_drop(&p.function.values[0]);
}

/* Numbers in a row, and a number that is no combination of the bits. */
Test(unit_value_names, other_enumerations_are_no_flags)
{
    struct plan p;
    names_begin(&p, DWELL_VALUE_ENUM, 4, 0);
    names_add(&p, 1, "ONE");
    names_add(&p, 2, "TWO");
    names_add(&p, 3, "THREE");
    names_add(&p, 4, "FOUR");
    cr_assert(names_read(&p));
    names_expect(&p, 5, "");
    value_names_drop(&p.function.values[0]);
    names_begin(&p, DWELL_VALUE_ENUM, 4, 0);
    names_add(&p, 1, "ONE");
    names_add(&p, 2, "TWO");
    names_add(&p, 4, "FOUR");
    names_add(&p, 10, "TEN");
    cr_assert(names_read(&p));
    names_expect(&p, 3, "");
    value_names_drop(&p.function.values[0]);
}

/* Whatever is cut off, nothing is read behind the end. */
Test(unit_value_names, damaged_names_are_refused)
{
    struct plan p;
    names_begin(&p, DWELL_VALUE_SIGNED, 1, 0);
    names_add(&p, 1, "ONE");
    cr_assert(not(names_read(&p)));
    for (size_t cut = 1; cut < sizeof(struct dwell_values_names) + 24; cut++) {
        names_begin(&p, DWELL_VALUE_ENUM, 1, 0);
        names_add(&p, 1, "ONE");
        p.length -= cut;
        cr_assert(not(names_read(&p)), "%zu", cut);
        value_names_drop(&p.function.values[0]);
    }
    names_begin(&p, DWELL_VALUE_ENUM, 1, 0);
    names_put(&p, &(struct dwell_value_name){ 1, UINT64_MAX }, sizeof(struct dwell_value_name));
    cr_assert(not(names_read(&p)));
    names_begin(&p, DWELL_VALUE_ENUM, UINT32_MAX, 0);
    cr_assert(not(names_read(&p)));
    value_names_drop(&p.function.values[0]);
}
