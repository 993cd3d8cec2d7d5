/* A session file that a merge or an import writes. It has another name until it is complete. */
#ifndef DWELL_TRACE_SESSION_OUTPUT_H
#define DWELL_TRACE_SESSION_OUTPUT_H

#include "session.h"

struct session_output {
    struct session session;
    int fd;
    char *path, *part;
};

/* Creates the file. Returns NULL, or an error message. */
const char *session_output_begin(struct session_output *o, const char *path);

/* Renames the file if there was no error so far. An older session at `path` is renamed to `path`.old; other files are
 * never replaced. Returns NULL, or an error message; then no file has changed. */
const char *session_output_end(struct session_output *o, const char *error);

#endif
