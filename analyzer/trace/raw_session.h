/* Opens session files of which nothing is read yet. */
#ifndef DWELL_TRACE_RAW_SESSION_H
#define DWELL_TRACE_RAW_SESSION_H

/* `flags` are those of open. Returns -1 with errno set, EINVAL if it is not a session. */
int session_open_raw(const char *path, int flags);

#endif
