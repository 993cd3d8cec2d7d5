/* Processes of a recording that live on when it ends. */
#ifndef DWELL_RECORDER_LEFT_PROCESSES_H
#define DWELL_RECORDER_LEFT_PROCESSES_H

#include <stdbool.h>

/* Whether a process of this user was started for that session. It may not have joined it: programs without probes do
 * not, and may execute one that does. */
bool left_processes_any(const char *session);

#endif
