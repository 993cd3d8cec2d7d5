/* The names that an enumeration gives its values. */
#ifndef DWELL_TRACE_VALUE_NAMES_H
#define DWELL_TRACE_VALUE_NAMES_H

#include "trace/recorded_values.h"

/* Reads the names of a plan chunk (docs/format.md), up to `end`. False if they are damaged; what was read stays. */
bool value_names_read(struct recorded_values *values, const uint8_t *at, const uint8_t *end);
void value_names_drop(struct recorded_value *value);

/* The name of a value. If the values are flags, "READ|WRITE". NULL if it has none. The caller frees it. */
char *value_names_text(const struct recorded_value *value, uint64_t word);

#endif
