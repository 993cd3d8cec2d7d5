/* Finds the time of a mark (dwell_mark), for parts of a session that begin or end there. */
#ifndef DWELL_TRACE_MARK_SEARCH_H
#define DWELL_TRACE_MARK_SEARCH_H

#include "trace/session_file.h"

/* Finds the earliest mark, not before `begin`, whose number or text is `wanted`, or whose text matches it as a glob,
 * and sets *time. Returns false if there is none. */
bool mark_search(const struct session_file *file, const char *wanted, uint64_t begin, uint64_t *time);

#endif
