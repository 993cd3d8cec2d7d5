/* The end time of each chunk, without reading its events: the time at which the thread's next chunk begins. */
#ifndef DWELL_PROFILE_CHUNK_ENDS_H
#define DWELL_PROFILE_CHUNK_ENDS_H

#include "trace/session_file.h"

/* By chunk: the time after which it has no event, or UINT64_MAX if that is unknown. It is 0 for chunks of other kinds.
 * The caller frees the array. */
uint64_t *chunk_ends(const struct session_file *file);

#endif
