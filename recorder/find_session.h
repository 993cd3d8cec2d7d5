/* Finds and opens the session file of a running process. */
#ifndef DWELL_RECORDER_FIND_SESSION_H
#define DWELL_RECORDER_FIND_SESSION_H

#include <stdint.h>

#include "base/error.h"

/* Returns a path by which the session can be opened, even if it was renamed or removed. The caller frees it. NULL
 * and an error if the process does not exist or is not recorded. */
char *find_session(uint32_t pid, struct error *error);

#endif
