/* Runs `dwell` with a limit, and returns what it used. */
#ifndef DWELL_TESTS_MEASURED_H
#define DWELL_TESTS_MEASURED_H

#include <sys/resource.h>

/* Runs `dwell COMMAND` by a shell, in the test's folder, with a limit for that RLIMIT_* resource. Fails the test unless
 * the status is zero. */
struct rusage measured_run(const char *command, int resource, rlim_t limit);

#endif
