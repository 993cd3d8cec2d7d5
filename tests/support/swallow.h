/* Everything that the analyzer does with a session, for input that nobody trusts. */
#ifndef DWELL_TESTS_SWALLOW_H
#define DWELL_TESTS_SWALLOW_H

#include <stdbool.h>

/* Opens, profiles, sums up and scans the file, and aborts where these contradict each other. False if it could not be
 * opened, with the reason in *error. */
bool swallow_session(const char *path, const char **error);

#endif
