/* Comparisons in conditions that users type, such as 'calls > 100' and 'name ~ parse*'. */
#ifndef DWELL_BASE_COMPARISON_H
#define DWELL_BASE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

/* By globs, for equality, by order. */
enum comparison {
    COMPARE_LIKE,
    COMPARE_UNLIKE,
    COMPARE_EQUAL,
    COMPARE_UNEQUAL,
    COMPARE_AT_LEAST,
    COMPARE_AT_MOST,
    COMPARE_GREATER,
    COMPARE_LESS,
};

/* What the signs begin with. */
#define COMPARISON_SIGNS "~=<>!"

/* Reads the sign that `text` begins with. Returns its length; zero if there is none. */
size_t comparison_read(const char *text, enum comparison *comparison);

/* The text of one side, without the blanks around it. The caller frees it. */
char *comparison_side(const char *text, size_t length);

/* ~ and !~ */
static inline bool comparison_is_by_glob(enum comparison c)
{
    return c <= COMPARE_UNLIKE;
}

static inline bool comparison_is_by_order(enum comparison c)
{
    return c >= COMPARE_AT_LEAST;
}

/* Whether the comparison, which is not by order, holds if the two sides are the same, or match. */
static inline bool comparison_wants_same(enum comparison c)
{
    return c == COMPARE_LIKE || c == COMPARE_EQUAL;
}

/* Whether the comparison, which is not by globs, holds. `order` is negative, 0 or positive if the left side is smaller
 * than, equal to or larger than the right one. */
bool comparison_holds(enum comparison c, int order);

#endif
