/* The sessions that a command is to read: files, and globs that nobody has expanded. */
#ifndef DWELL_COMMANDS_SESSIONS_H
#define DWELL_COMMANDS_SESSIONS_H

#include <stddef.h>

struct analysis;
struct analysis_options;

/* All zero is an empty one. */
struct session_list {
    char **paths;
    size_t count, room;
};

/* A file; or all files that the glob means, in the order of their names. */
void session_list_add(struct session_list *list, const char *argument);

/* Leaves out what is in the list already, by whatever name. */
void session_list_unique(struct session_list *list);
void session_list_drop(struct session_list *list);

/* Loads them all as one, each once; dwell.data if there is none. Ends the program where one cannot be read, or where a
 * part is asked for of several. */
void session_list_load(struct session_list *list, struct analysis *l, const struct analysis_options *options);

#endif
