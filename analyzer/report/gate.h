/* Conditions that fail a comparison, such as "cpu_exclusive > +10%", for scripts that check a program's speed. */
#ifndef DWELL_REPORT_GATE_H
#define DWELL_REPORT_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum gate_unit { GATE_COUNT, GATE_TIME, GATE_PERCENT };

struct gate {
    const char *text;
    size_t value; /* its place in the list of names */
    bool above;   /* a change above the limit fails; otherwise one below it */
    enum gate_unit unit;
    double limit; /* with its sign; times are in nanoseconds */
};

/* Returns false and sets the error if the text is not a condition on one of the `count` values of these names. */
bool gate_parse(struct gate *gate, const char *text, const char *const *names, size_t count, struct error *error);

/* The values of a row before and after, each as a sum over so many runs, which are not zero. */
struct gate_sums {
    uint64_t before, after;
    size_t runs_before, runs_after;
};

/* Whether the means differ so much. Means are compared exactly. */
bool gate_is_met(const struct gate *gate, const struct gate_sums *sums);

/* The change in percent of the mean before, which is not zero. */
double gate_percent(const struct gate_sums *sums);

#endif
