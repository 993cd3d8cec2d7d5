/* Runs everything that the analyzer does with a session, for untrusted input. */
#ifndef DWELL_TESTS_SWALLOW_H
#define DWELL_TESTS_SWALLOW_H

#include <stdbool.h>

/* Opens, profiles, rolls up and scans the file. Aborts if the results contradict each other. Returns false if the file
 * cannot be opened, with the reason in *error. */
bool swallow_session(const char *path, const char **error);

#endif
