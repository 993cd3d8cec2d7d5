/* Values that are recorded from now on, or no longer (`dwell control PID values`). */
#ifndef DWELL_RECORDER_CHANGED_VALUES_H
#define DWELL_RECORDER_CHANGED_VALUES_H

#include "recorder/planned_values.h"

/* Reads FUNCTION[:WHAT,...] or FUNCTION>off. If it is neither, sets the error; planned_values_drop in any case. */
bool changed_values_parse(struct planned_values *v, const char *setting, struct error *error);

/* After planned_values_find_in for the modules of a process: writes a plan for it, behind that of the session, which it
 * extends. Returns the plan's offset; zero and the error if nothing was found, or if a function has other values there.
 */
uint64_t changed_values_write(const struct planned_values *v, const struct session *session, int fd,
                              struct error *error);

#endif
