/* The settings GUID|NAME[:LEVEL] that enable trace events, for `record --event` and `control PID event`. */
#ifndef DWELL_COMMANDS_EVENT_SETTINGS_H
#define DWELL_COMMANDS_EVENT_SETTINGS_H

#include <stdbool.h>

/* Returns the setting as the runtime takes it: "NAME:LEVEL", the level a number or "off", a GUID in lower case without
 * braces. The caller frees it. Ends the program with `status` if the text is not valid; `place` begins the message. */
char *event_setting(const char *text, int status, const char *place);

/* A level, by number or name; -1 if the text is neither. */
int event_level(const char *text);

/* A type, likewise. */
int event_type(const char *text);

#endif
