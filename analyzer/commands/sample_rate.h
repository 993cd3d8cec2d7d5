/* How many samples a second are taken under an overhead budget. */
#ifndef DWELL_COMMANDS_SAMPLE_RATE_H
#define DWELL_COMMANDS_SAMPLE_RATE_H

#include <stdint.h>

enum { SAMPLE_USUAL_RATE = 1000, SAMPLE_MAX_RATE = 10000 }; /* a second of CPU time */

/* Returns the highest rate, of two digits, at which samples take at most half of the budget. `permille` is the budget:
 * overhead over the program's own time. `stop` is for how many nanoseconds a sample stops its thread, or zero if that
 * is unknown; then the usual rate is returned. A sample is taken to cost three times as much. */
unsigned sample_rate_within(uint32_t permille, uint64_t stop);

/* Returns the part of the budget that samples leave to the probes, in thousandths: at least 1. */
uint32_t sample_rate_rest(uint32_t permille, uint64_t stop, unsigned rate);

#endif
