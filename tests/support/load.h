/* Sessions loaded as a test expects: whole, and without an error. */
#ifndef TESTS_SUPPORT_LOAD_H
#define TESTS_SUPPORT_LOAD_H

#include "analysis/analysis.h"

/* Loads the session by `jobs` threads; the test fails if that fails. */
void load_whole(struct analysis *l, const char *path, unsigned jobs);

/* Loads a session, or several as one; the test fails if that fails. */
void load_with(struct analysis *l, const char *path, const struct analysis_options *options);
void load_several(struct analysis *l, const char *const *paths, size_t count, const struct analysis_options *options);

#endif
