/* Reads a session while it grows. */
#ifndef DWELL_TESTS_GROWTH_H
#define DWELL_TESTS_GROWTH_H

#include <stdint.h>

/* Lets the session grow anew in an order of that seed, reads it meanwhile, and fails the test unless the outcome is
 * that of reading it at once. */
void check_growth(const char *path, uint64_t seed);

#endif
