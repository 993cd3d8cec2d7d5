/* Values of arguments as text, their order, and ranges of numbers. */
#ifndef DWELL_TABLES_VALUE_RANGES_H
#define DWELL_TABLES_VALUE_RANGES_H

#include "trace/recorded_values.h"

/* `words` are those of recorded_value_words: NULL if the value could not be read. Such values come last. */
int recorded_value_compare(const struct recorded_value *v, const uint64_t *a, const uint64_t *b);

/* The bytes of a text are as they were. The caller frees it. */
char *recorded_value_text(const struct recorded_value *v, const uint64_t *words);

/* The same for data: bytes that belong to no character are \xff (base/utf8.h), so that no two texts look alike. */
char *recorded_value_data(const struct recorded_value *v, const uint64_t *words);

/* Whether the word has a name of the value's enumeration. */
bool recorded_value_is_named(const struct recorded_value *v, const uint64_t *words);

/* Whether its values have no order that matters. */
bool recorded_value_is_word(const struct recorded_value *v);

/* Ranges by number, in their order. Each is from a power of two to the next one; below zero, the same with the sign. */
enum { RANGE_ZERO = 1 << 16, RANGE_NAN = 1 << 20, RANGE_UNREAD, RANGE_OTHERS /* in mode profile: no value alone */ };
int32_t recorded_value_range(const struct recorded_value *v, const uint64_t *words);

/* A range begins with *from and ends before *to; below zero, it begins behind *from and ends with *to. Both are zero or
 * a power of two, "inf" or "-inf", or "nan". The caller frees them. Not of RANGE_UNREAD and RANGE_OTHERS. */
void recorded_range_ends(const struct recorded_value *v, int32_t range, char **from, char **to);

/* "1024 to <2048". The caller frees it. */
char *recorded_range_text(const struct recorded_value *v, int32_t range);

#endif
