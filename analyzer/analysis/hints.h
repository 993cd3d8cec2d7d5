/* For messages about what a session does not have: "; did you mean 'parse_file'?", of what it has, or else `otherwise`.
 * Valid until the next call. */
#ifndef DWELL_ANALYSIS_HINTS_H
#define DWELL_ANALYSIS_HINTS_H

#include "analysis/analysis.h"

const char *hint_function(const struct analysis *l, const char *typed, const char *otherwise);
const char *hint_thread(const struct session_file *file, const char *typed, const char *otherwise);
const char *hint_process(const struct session_file *file, const char *typed, const char *otherwise);

/* Of marks' texts: reads the session for them. */
const char *hint_mark(const struct session_file *file, const char *typed, const char *otherwise);

#endif
