/* Makes one session of several that were recorded with the same clock. Their chunks are copied and keep their times.
 * Only serial numbers change. */
#ifndef DWELL_TRACE_SESSION_MERGE_H
#define DWELL_TRACE_SESSION_MERGE_H

#include <stddef.h>

#include "trace/session_file.h"

/* Returns NULL, or the reason why the second session cannot be merged with the first. */
const char *session_merge_check(const struct session_file *first, const struct session_file *second);

/* Each session must pass the check with the first. An older session at `path` is renamed to `path`.old; other files are
 * never replaced. `values`: the session has the recorded values of arguments as well. Returns NULL, or an error
 * message; then no file has changed. */
const char *session_merge(struct session_file *const *sessions, size_t count, bool values, const char *path);

#endif
