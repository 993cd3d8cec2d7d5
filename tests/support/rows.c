/* Sorted views for tests. */
#include "support/rows.h"

#include <criterion/criterion.h>

struct table sorted_rows(const struct analysis *analysis, enum rollup_by by, const struct sorting *sorting)
{
    struct error error = { NULL };
    struct table t = view_rows(analysis, by, sorting);
    cr_assert(view_sort(&t, sorting, &error), "%s", error.text);
    return t;
}

struct table sorted(struct table t, const char *key)
{
    struct error error = { NULL };
    cr_assert(view_sort(&t, &(struct sorting){ .key = key }, &error), "%s", error.text);
    return t;
}
