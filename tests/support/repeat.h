/*
 * Makes a large session from a small one by repeating its threads' events. Each repetition is 2^48 ticks after the
 * previous one. Chunks are therefore copied unchanged, except for the times in their headers.
 *
 * For a program that leaves all its calls, each sum in the report is `times` as large, and min and max are the same.
 */
#ifndef DWELL_TESTS_REPEAT_H
#define DWELL_TESTS_REPEAT_H

#include <stdint.h>

/* Writes the session to `output`. Returns NULL, or an error message. */
const char *repeat_session(const char *input, const char *output, uint32_t times);

#endif
