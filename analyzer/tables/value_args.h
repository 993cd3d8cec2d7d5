/* Recorded values of single calls, for formats that show them (`dwell export --with-values`, `dwell replay`,
 * `dwell slowest`). */
#ifndef DWELL_TABLES_VALUE_ARGS_H
#define DWELL_TABLES_VALUE_ARGS_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "trace/recorded_values.h"

struct value_args {
    const struct recorded_values *values;
    uint32_t *recorded; /* by function of the profile: 1 + its index in the values; zero if it has none */
};

/* `values` NULL: no call has any. */
struct value_args value_args_begin(const struct analysis *session, const struct recorded_values *values);
void value_args_end(struct value_args *a);

/* The values of the call that the thread (serial number) has entered at that time; NULL if it has none. `function` is a
 * number of the profile. */
const struct recorded_row *value_args_of(const struct value_args *a, uint32_t function, uint32_t thread, uint64_t time);

/* One of them, as it was recorded. */
enum value_arg_kind {
    VALUE_ARG_UNREADABLE,
    VALUE_ARG_TEXT, /* also an address, a character, and an enumeration's name */
    VALUE_ARG_BOOL,
    VALUE_ARG_SIGNED,
    VALUE_ARG_UNSIGNED,
    VALUE_ARG_REAL,
};

struct value_arg {
    const char *name;
    enum value_arg_kind kind;
    char *text;    /* as `dwell values` shows it; the caller frees it */
    uint64_t word; /* of a number that is not real */
    double real;
};

uint32_t value_args_count(const struct value_args *a, const struct recorded_row *row);
struct value_arg value_args_get(const struct value_args *a, const struct recorded_row *row, uint32_t i);

/* All of them as text: n=3, kind=GET. The bytes of texts are as they were. The caller frees it. */
char *value_args_text(const struct recorded_values *values, const struct recorded_row *row);

/* Writes them as a JSON object, by their names. What could not be read is null. */
void value_args_put_json(const struct value_args *a, const struct recorded_row *row, FILE *out);

#endif
