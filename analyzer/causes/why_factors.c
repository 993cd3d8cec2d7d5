/* What else slow calls have more often than usual ones. */
#include "causes/why_factors.h"

#include <stdlib.h>
#include <string.h>

static int factor_compare(const void *a, const void *b)
{
    const struct why_factor *x = a, *y = b;
    const double of_x = x->shares[WHY_SLOW] - x->shares[WHY_USUAL], of_y = y->shares[WHY_SLOW] - y->shares[WHY_USUAL];
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    const int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->value, y->value);
}

struct why_factors why_factors_find(const struct why_part *parts, size_t count, const struct why_found *scan,
                                    bool values)
{
    struct why_factors factors = { .count = 0 };
    struct why_traits traits = why_traits_find(parts, count, scan, values);
    why_factors_test(&factors, &traits);
    why_traits_drop(&traits);
    if (factors.count)
        qsort(factors.list, factors.count, sizeof *factors.list, factor_compare);
    return factors;
}

void why_factors_drop(struct why_factors *factors)
{
    for (size_t i = 0; i < factors->count; i++)
        free(factors->list[i].value);
    free(factors->list);
}
