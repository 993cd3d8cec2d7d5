/* Conditions that fail a comparison, such as "cpu_exclusive > +10%", for scripts that check a program's speed. */
#ifndef DWELL_COMPARISON_GATE_CONDITION_H
#define DWELL_COMPARISON_GATE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum gate_unit { GATE_COUNT, GATE_TIME, GATE_PERCENT };

struct gate {
    const char *text;
    size_t value; /* its place in the list of names */
    bool above;   /* a change above the limit fails; otherwise one below it */
    bool all;     /* it is for all rows, also for those that chance decides */
    enum gate_unit unit;
    double limit; /* with its sign; times are in nanoseconds */
};

/* Returns false and sets the error if the text is not a condition on one of the `count` values of these names. With
 * "all_" before its name, all rows count. */
bool gate_parse(struct gate *gate, const char *text, const char *const *names, size_t count, struct error *error);

/* The values of a row before and after, each as a sum over so many runs, which are not zero. */
struct gate_sums {
    uint64_t before, after;
    size_t runs_before, runs_after;
};

/* Whether the means differ at all. They are compared exactly, and so below. */
bool gate_sums_differ(const struct gate_sums *sums);

/* Whether the means differ so much. */
bool gate_is_met(const struct gate *gate, const struct gate_sums *sums);

/* The condition with "all_", which counts all rows. The caller frees it. */
char *gate_for_all(const struct gate *gate);

/* The change in percent of the mean before, which is not zero. */
double gate_percent(const struct gate_sums *sums);

/* The rows of a comparison, for a report on those that fail. */
struct gate_rows {
    const void *comparison;
    const char *thing; /* what a row is, such as "function" */
    size_t count;
    bool (*fails)(const struct gate *gate, const void *comparison, size_t row);
    void (*print)(const struct gate *gate, const void *comparison, size_t row, FILE *out); /* a line */
    /* Whether a row meets the condition, but does not fail, as chance decides its value. NULL if there are none. */
    bool (*leaves_out)(const struct gate *gate, const void *comparison, size_t row);
};

/* Prints the first rows that fail, and the first ones that are left out. Returns the number of all that fail. */
size_t gate_report(const struct gate *gate, const struct gate_rows *rows, FILE *out);

#endif
