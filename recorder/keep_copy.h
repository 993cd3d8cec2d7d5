/* A window of a slow call as a session file of its own, while the recording goes on. */
#ifndef DWELL_RECORDER_KEEP_COPY_H
#define DWELL_RECORDER_KEEP_COPY_H

#include "trace/session_file.h"

/* Writes a session to the empty file `fd` that has what `file` knows, but of the events only the chunks that have a
 * part of the windows of the chosen calls. `live`: processes may record into the session. Returns zero or an errno
 * value. */
int keep_copy(const struct session_file *file, const struct kept_calls *chosen, bool live, int fd);

#endif
