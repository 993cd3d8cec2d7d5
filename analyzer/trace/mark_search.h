/* When a program said something (dwell_mark): for parts of a session that begin or end there. */
#ifndef DWELL_TRACE_MARK_SEARCH_H
#define DWELL_TRACE_MARK_SEARCH_H

#include "trace/session_file.h"

/* Sets *time to that of the earliest mark, not before `begin`, that has this number or whose text is, or is matched by
 * the glob, `wanted`. False: there is none. */
bool mark_search(const struct session_file *file, const char *wanted, uint64_t begin, uint64_t *time);

#endif
