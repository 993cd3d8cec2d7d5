/* Ranges of numbers that have about equally many calls each. */
#ifndef DWELL_TABLES_VALUE_QUANTILES_H
#define DWELL_TABLES_VALUE_QUANTILES_H

#include "tables/valued_calls.h"

enum { VALUE_QUANTILES = 10 };

/* Both ends are values of calls, and belong to the range. */
struct value_quantiles {
    const uint64_t *from[VALUE_QUANTILES], *to[VALUE_QUANTILES];
    size_t count;
};

/* Gives the calls ranges of an argument, numbered from 1 on. They are in the order of its values. Calls of one value
 * are in one range. Those without a number have RANGE_NAN, RANGE_UNREAD, or the range that they have. */
void value_quantiles_divide(struct value_quantiles *q, struct valued_calls *v, const struct recorded_value *value,
                            unsigned argument);

/* A range of that number. The caller frees the texts. */
char *value_quantile_text(const struct value_quantiles *q, const struct recorded_value *value, int32_t range);
void value_quantile_ends(const struct value_quantiles *q, const struct recorded_value *value, int32_t range,
                         char **from, char **to);

#endif
