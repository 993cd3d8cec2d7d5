/* Programs with elevated privileges: setuid, setgid, or with file capabilities. */
#ifndef DWELL_SECURE_H
#define DWELL_SECURE_H

#include <stdbool.h>
#include <sys/auxv.h>

/* Whether the process has privileges that the user who started it may not have. That user has set the environment and
 * the working directory, so nothing is recorded then, and no file is opened. Safe in signal handlers. */
static inline bool secure_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

#endif
