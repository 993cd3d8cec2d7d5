/* A session file that is not recorded: made whole beside its name, and then given it as a recording would take it. */
#ifndef DWELL_TRACE_SESSION_OUTPUT_H
#define DWELL_TRACE_SESSION_OUTPUT_H

#include "session.h"

struct session_output {
    struct session session;
    int fd;
    char *path, *part;
};

/* Creates it. Returns NULL, or what went wrong. */
const char *session_output_begin(struct session_output *o, const char *path);

/* Gives it its name, if there was no error so far: an older session of that name becomes `path`.old, other files are
 * never replaced. With an error, nothing is there that was not there before. Returns what went wrong, or NULL. */
const char *session_output_end(struct session_output *o, const char *error);

#endif
