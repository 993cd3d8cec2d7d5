/* Reads counts chunks: the calls of functions whose calls were only counted (docs/levels.md). */
#ifndef DWELL_TRACE_COUNTED_CALLS_H
#define DWELL_TRACE_COUNTED_CALLS_H

#include "trace/session_file.h"

/* Reads the chunk's entries that are in use, in the order of the file. Returns their number. The caller frees the list,
 * which is NULL if the chunk cannot be read. */
size_t counts_read(const struct session_file *file, const struct trace_chunk *chunk, struct dwell_count **list);

/* Whether any call was only counted. */
bool counts_any(const struct session_file *file);

#endif
