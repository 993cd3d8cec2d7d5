/* Hints for messages about a name that a session does not have. A hint is "; did you mean 'parse_file'?" with a similar
 * name of the session, or `otherwise`. It is valid until the next call by the same thread. */
#ifndef DWELL_ANALYSIS_HINTS_H
#define DWELL_ANALYSIS_HINTS_H

#include "analysis/analysis.h"

const char *hint_function(const struct analysis *analysis, const char *typed, const char *otherwise);
/* `titles`: what text shows of the threads, or NULL. */
const char *hint_thread(const struct session_file *file, char *const *titles, const char *typed, const char *otherwise);
const char *hint_process(const struct session_file *file, const char *typed, const char *otherwise);

/* For the text of a mark. Reads the whole session. */
const char *hint_mark(const struct session_file *file, const char *typed, const char *otherwise);

#endif
