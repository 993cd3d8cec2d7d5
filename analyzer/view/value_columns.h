/* The columns of a page's tables of values. */
#ifndef DWELL_VIEW_VALUE_COLUMNS_H
#define DWELL_VIEW_VALUE_COLUMNS_H

#include <stdbool.h>

#include "profile/values.h"
#include "view/container.h"

enum { MAX_VALUE_COLUMNS = VALUE_COUNT * VALUE_FORMS };

/* Lists columns for all values but derived ones, which the page computes. `inclusive` adds the inclusive forms. `order`
 * is that of struct container_column. Returns their number, at most MAX_VALUE_COLUMNS. */
size_t value_columns_list(struct container_column *columns, const struct times *times, const uint32_t *order,
                          bool inclusive);

/* Groups without a completed call have shortest > longest. Small numbers keep their columns narrow. */
void value_columns_mark_unknown(struct times *times, size_t count);

#endif
