/* Loads sessions that must be complete and free of errors. */
#ifndef TESTS_SUPPORT_LOAD_H
#define TESTS_SUPPORT_LOAD_H

#include "analysis/analysis.h"

/* Loads the session with `jobs` threads. The test fails if loading fails. */
void load_whole(struct analysis *analysis, const char *path, unsigned jobs);

/* Loads one session, or several as one. The test fails if loading fails. */
void load_with(struct analysis *analysis, const char *path, const struct analysis_options *options);
void load_several(struct analysis *analysis, const char *const *paths, size_t count,
                  const struct analysis_options *options);

#endif
