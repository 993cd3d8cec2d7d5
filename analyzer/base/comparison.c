/* Reads comparisons, and tells whether they hold. */
#include "base/comparison.h"

#include <string.h>

#include "base/memory.h"

/* Longer signs come first, as shorter ones are their beginnings. */
static const struct {
    const char *sign;
    enum comparison comparison;
} signs[] = {
    { "!~", COMPARE_UNLIKE }, { "!=", COMPARE_UNEQUAL }, { ">=", COMPARE_AT_LEAST }, { "<=", COMPARE_AT_MOST },
    { "~", COMPARE_LIKE },    { "=", COMPARE_EQUAL },    { ">", COMPARE_GREATER },   { "<", COMPARE_LESS },
};

size_t comparison_read(const char *text, enum comparison *comparison)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t length = strlen(signs[i].sign);
        if (strncmp(text, signs[i].sign, length) == 0) {
            *comparison = signs[i].comparison;
            return length;
        }
    }
    return 0;
}

char *comparison_side(const char *text, size_t length)
{
    while (length && *text == ' ') {
        text++;
        length--;
    }
    while (length && text[length - 1] == ' ')
        length--;
    return need_copy(text, length);
}

bool comparison_holds(enum comparison c, int order)
{
    switch (c) {
    case COMPARE_EQUAL:
        return order == 0;
    case COMPARE_UNEQUAL:
        return order != 0;
    case COMPARE_AT_LEAST:
        return order >= 0;
    case COMPARE_AT_MOST:
        return order <= 0;
    case COMPARE_GREATER:
        return order > 0;
    default:
        return order < 0;
    }
}
