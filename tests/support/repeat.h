/*
 * Makes a large session of a small one: its threads do the same again and again. Each time is 2^48 ticks behind the one
 * before, so that no time in the chunks has to be told anew, but the one in their headers: they are copied as they are.
 * Of a program that leaves all its calls, each sum of the report is `times` as large, and min and max are the same.
 */
#ifndef DWELL_TESTS_REPEAT_H
#define DWELL_TESTS_REPEAT_H

#include <stdint.h>

/* Writes it to `output`. NULL, or what went wrong. */
const char *repeat_session(const char *input, const char *output, uint32_t times);

#endif
