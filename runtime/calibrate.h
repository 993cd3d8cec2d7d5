/*
 * Measuring what the probes themselves take in this process.
 */
#ifndef DWELL_CALIBRATE_H
#define DWELL_CALIBRATE_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Appends the costs to the session, before the process' first event. */
void calibrate(void);

/* Measures again when the process ends, as other work may have kept the machine busy the first time. */
void calibrate_again(void);

#pragma GCC visibility pop

#endif
