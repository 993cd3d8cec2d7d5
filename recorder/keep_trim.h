/* At the end of a recording that keeps windows of slow calls: removes what lies outside of them. */
#ifndef DWELL_RECORDER_KEEP_TRIM_H
#define DWELL_RECORDER_KEEP_TRIM_H

#include "session.h"

/* For a session of such a recording to which no process writes any more: chunks of the rings that have no event within
 * a window become free, and their space is given back. Else it does nothing. */
void keep_trim(const struct session *session, int fd, const char *path);

#endif
