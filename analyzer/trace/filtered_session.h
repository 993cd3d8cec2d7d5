/* Leaves calls out of an open session: its event chunks are replaced by filtered ones, in a temporary file. */
#ifndef DWELL_TRACE_FILTERED_SESSION_H
#define DWELL_TRACE_FILTERED_SESSION_H

#include "base/error.h"
#include "trace/filtered_thread.h"

/* Filters all events by `jobs` workers. The file itself is unchanged. Call trees are unchanged, too. It is an error if
 * the temporary file cannot be written; the session can only be closed then. */
bool filtered_session(struct session_file *file, const struct stream_filter *filter, unsigned jobs,
                      struct error *error);

#endif
