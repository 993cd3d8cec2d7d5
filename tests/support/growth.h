/* Reads a session while it grows. */
#ifndef DWELL_TESTS_GROWTH_H
#define DWELL_TESTS_GROWTH_H

#include <stdint.h>

/* Copies the session as a growing one in the order of that seed, and reads it at the same time. Fails the test unless
 * the profile equals that of the whole session. */
void check_growth(const char *path, uint64_t seed);

#endif
