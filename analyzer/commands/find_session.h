/* The session that a running process is recorded into. */
#ifndef DWELL_COMMANDS_FIND_SESSION_H
#define DWELL_COMMANDS_FIND_SESSION_H

#include <stdint.h>

/* The path of a file that is a session, or NULL with errno set: EINVAL if it is none. `flags` as for open. */
int session_open_raw(const char *path, int flags);

/* A path by which it can be opened, though it was renamed or removed; to be freed by the caller. Ends the program where
 * there is no such process, or none that is recorded. */
char *find_session(uint32_t pid);

#endif
