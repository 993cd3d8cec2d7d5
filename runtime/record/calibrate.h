/*
 * Measuring what the probes themselves take in this process.
 */
#ifndef DWELL_CALIBRATE_H
#define DWELL_CALIBRATE_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct scratch;

/* How the probes of a mode are measured: `begin` prepares the block that stands in for the thread's own; NULL if that
 * needs nothing. `round` calls the functions once, and reads what was recorded. False if either failed. */
struct calibration {
    bool (*begin)(struct scratch *s);
    bool (*round)(struct scratch *s, int round);
};

/* Functions of calibrate.c that are called with probes. The table of the filters has to contain them. */
struct calibrated_function {
    const void *function;
    uint32_t action; /* bits of DWELL_FILTER_* */
};
enum { CALIBRATED_FUNCTIONS = 3 };
extern const struct calibrated_function calibrated_functions[CALIBRATED_FUNCTIONS];

extern const struct calibration calibration_of_events, calibration_of_trees;

/* Appends the costs to the session, before the process' first event. */
void calibrate(void);

/* Measures again when the process ends, as other work may have kept the machine busy the first time. */
void calibrate_again(void);

#pragma GCC visibility pop

#endif
