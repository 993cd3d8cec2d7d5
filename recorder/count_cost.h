/* Measures what counting a call takes in its function, where one instruction counts it (docs/levels.md). */
#ifndef DWELL_RECORDER_COUNT_COST_H
#define DWELL_RECORDER_COUNT_COST_H

#include <stdint.h>

/* In picoseconds. Takes less than a millisecond. Zero if this machine never counts so, or if it is too short to be
 * measured. */
uint16_t count_cost_measure(void);

#endif
