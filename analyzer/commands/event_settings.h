/* GUID|NAME[:LEVEL], by which trace events are asked for: `record --event`, `control PID event`. */
#ifndef DWELL_COMMANDS_EVENT_SETTINGS_H
#define DWELL_COMMANDS_EVENT_SETTINGS_H

#include <stdbool.h>

/* As the runtime takes it: "NAME:LEVEL", the level a number or "off", a GUID in lower case without braces; to be freed
 * by the caller. Ends the program with `status` where it is none; `place` tells where it comes from. */
char *event_setting(const char *text, int status, const char *place);

/* A level: a number, or the name of one; -1: it is none. */
int event_level(const char *text);

/* A type likewise. */
int event_type(const char *text);

#endif
