/* One session of several that were recorded by the same clock: their chunks are copied, and keep their times; only
 * serial numbers change. */
#ifndef DWELL_TRACE_SESSION_MERGE_H
#define DWELL_TRACE_SESSION_MERGE_H

#include <stddef.h>

#include "trace/session_file.h"

/* NULL, or why the second cannot be merged with the first. */
const char *session_merge_check(const struct session_file *first, const struct session_file *second);

/* Sessions of which each passes the check with the first. Returns NULL, or what went wrong; then nothing is there that
 * was not there before. An older session at `path` becomes `path`.old, other files are never replaced. */
const char *session_merge(struct session_file *const *sessions, size_t count, const char *path);

#endif
