/* Conditions of --fail-if on how time grows with a value: 'exponent(sort:n) > +0.2'. Exponents do not depend on the
 * machine's speed. */
#ifndef DWELL_COMMANDS_EXPONENT_GATE_H
#define DWELL_COMMANDS_EXPONENT_GATE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/power_law.h"
#include "comparison/diff.h"
#include "tables/scaling_calls.h"

struct exponent_gate {
    const char *text;
    char *function;
    const char *what; /* part of `function`; NULL: the only value */
    bool above;       /* a change above the limit fails; otherwise one below it */
    double limit;     /* with its sign */
    struct scaling_calls sides[DIFF_SIDES];
    struct power_law laws[DIFF_SIDES]; /* set by exponent_gates_fit */
};

struct exponent_gates {
    struct exponent_gate *list;
    size_t count, room;
};

/* Whether the text begins as such a condition does. */
bool exponent_gate_is(const char *text);

/* The text must stay. False if it is none; then the error is set. */
bool exponent_gates_add(struct exponent_gates *gates, const char *text, struct error *error);

/* Adds the calls of a session. Ends the program if it does not have the values. */
void exponent_gates_load(struct exponent_gates *gates, enum diff_side side, const struct analysis *analysis);

/* Finds the laws of both sides. Ends the program if a side has too few values for an interval of the exponent. */
void exponent_gates_fit(struct exponent_gates *gates);

/* Prints the conditions that are met, and those that are only met by chance. The exponent must change by more than the
 * limit, and the 95 % intervals of both must not overlap. Returns whether a condition is met. */
bool exponent_gates_report(const struct exponent_gates *gates, FILE *out);

void exponent_gates_drop(struct exponent_gates *gates);

#endif
