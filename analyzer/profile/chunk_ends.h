/* Until when the events of each chunk last: without reading them, from where the next chunk of the thread begins. */
#ifndef DWELL_PROFILE_CHUNK_ENDS_H
#define DWELL_PROFILE_CHUNK_ENDS_H

#include "trace/session_file.h"

/* By chunk: no event of it is later; UINT64_MAX: unknown. To be freed by the caller. */
uint64_t *chunk_ends(const struct session_file *file);

#endif
