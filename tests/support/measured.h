/* Runs `dwell` with a limit, and returns what it used. */
#ifndef DWELL_TESTS_MEASURED_H
#define DWELL_TESTS_MEASURED_H

#include <sys/resource.h>

/* Runs `dwell COMMAND` by a shell, in the test's folder, with a limit for that RLIMIT_* resource. Fails the test unless
 * the status is zero. */
struct rusage measured_run(const char *command, int resource, rlim_t limit);

/* The most memory that the command had, in bytes: the least of several runs, the last of which is the first one that
 * has at most `most`. How far the lists of its threads have grown at the same time differs by megabytes. */
long measured_peak(const char *command, int resource, rlim_t limit, long most);

#endif
