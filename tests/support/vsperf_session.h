/* Imports reports, given as texts, into a session in the test's folder. */
#ifndef DWELL_TESTS_VSPERF_SESSION_H
#define DWELL_TESTS_VSPERF_SESSION_H

#include "tables/views.h"

/* Reads the texts and writes the session. Messages name the texts 1.csv, 2.csv and so on. Returns NULL, or an error
 * message, which the caller frees. */
char *vsperf_try(const char *const *texts, size_t count, uint64_t resolution, const char *path);

/* The same, and loads the session. Fails the test on an error. The caller unloads it. */
struct analysis vsperf_load(const char *const *texts, size_t count, uint64_t resolution);

/* The times of that function in the report by function. Fails the test if it does not exist. */
struct times vsperf_times(const struct analysis *analysis, const char *name);

/* One line for each path of the tree: "root/callee inclusive exclusive calls". The caller frees it. */
char *vsperf_paths(const struct analysis *analysis);

#endif
