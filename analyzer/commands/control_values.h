/* dwell control PID values: what is written into the session before the process gets the command. */
#ifndef DWELL_COMMANDS_CONTROL_VALUES_H
#define DWELL_COMMANDS_CONTROL_VALUES_H

#include <stdint.h>

#include "session.h"

/* Finds the functions that `setting` names in the process' loaded modules, and writes a plan that has their values.
 * Returns the command's text, which the caller frees, or ends the program. */
char *control_values_text(const char *setting, uint32_t pid, const struct session *session, int fd);

#endif
