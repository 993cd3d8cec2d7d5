/* Reports as texts, imported into a session of the test's folder. */
#ifndef DWELL_TESTS_VSPERF_SESSION_H
#define DWELL_TESTS_VSPERF_SESSION_H

#include "report/views.h"

/* Reads the texts, which messages call 1.csv and so on, and writes the session. NULL, or what is wrong, to be freed. */
char *vsperf_try(const char *const *texts, size_t count, uint64_t resolution, const char *path);

/* The same, loaded; fails the test where it does. To be unloaded. */
struct analysis vsperf_load(const char *const *texts, size_t count, uint64_t resolution);

/* Values of the function of that name in the report by function; fails the test where there is none. */
struct times vsperf_times(const struct analysis *l, const char *name);

/* What the tree shows, a path each: "root/callee inclusive exclusive calls" and a line's end; to be freed. */
char *vsperf_paths(const struct analysis *l);

#endif
