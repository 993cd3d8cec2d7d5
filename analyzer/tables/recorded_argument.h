/* An argument whose values a session holds: finds it by the names of its function and itself. */
#ifndef DWELL_TABLES_RECORDED_ARGUMENT_H
#define DWELL_TABLES_RECORDED_ARGUMENT_H

#include "analysis/analysis.h"
#include "base/error.h"
#include "trace/recorded_values.h"

struct recorded_argument {
    const struct recorded_values *values;
    uint32_t function; /* of the analysis */
    uint32_t recorded; /* the function's index in the values */
    uint32_t index;    /* of the value among those of the function */
    const struct recorded_value *value;
};

/* `what` is the value's name; NULL: the only one. False if the function has no such value; then the error is set. */
bool recorded_argument_find(struct recorded_argument *a, const struct analysis *analysis,
                            const struct recorded_values *values, uint32_t function, const char *what,
                            struct error *error);

/* The recorded function of a->function, among a->values: its index goes to a->recorded. NULL if it has no values. */
const struct recorded_function *recorded_argument_function(struct recorded_argument *a,
                                                           const struct analysis *analysis);

/* The row of the call of that thread (serial number) which was entered at that time; NULL if it has no values. */
const struct recorded_row *recorded_argument_row(const struct recorded_argument *a, uint32_t thread, uint64_t time);

/* Whether its values are numbers with a size, not words. */
bool recorded_value_is_number(const struct recorded_value *value);

/* The number that its word stands for. */
double recorded_value_number(const struct recorded_value *value, uint64_t word);

/* Remarks about calls without values, and about values that were lost or could not be read. None if all are zero. */
void recorded_argument_remark_valueless(struct summary *summary, uint64_t calls, bool sums);
void recorded_argument_remark_others(struct summary *summary, uint64_t calls); /* that share sums, in mode profile */
void recorded_argument_remark_losses(struct summary *summary, uint64_t lost, size_t damaged_chunks,
                                     uint64_t later_calls);

#endif
