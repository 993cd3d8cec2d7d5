/* The settings GUID|NAME[:LEVEL] that enable trace events, for `record --event` and `control PID event`. */
#ifndef DWELL_RECORDER_EVENT_SETTINGS_H
#define DWELL_RECORDER_EVENT_SETTINGS_H

#include "base/error.h"

/* Returns the setting as the runtime takes it: "NAME:LEVEL", the level a number or "off", a GUID in lower case without
 * braces. The caller frees it. NULL if the text is not valid; `place` begins the error. */
char *event_setting(const char *text, const char *place, struct error *error);

#endif
