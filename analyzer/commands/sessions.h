/* The sessions that a command reads: files, and globs that the shell has not expanded. */
#ifndef DWELL_COMMANDS_SESSIONS_H
#define DWELL_COMMANDS_SESSIONS_H

#include <stddef.h>

struct analysis;
struct shared_options;

/* All zero is an empty one. */
struct session_list {
    char **paths;
    size_t count, room;
};

/* Adds a file, or all files that match the glob, in the order of their names. */
void session_list_add(struct session_list *list, const char *argument);

/* Removes files that are in the list already, under the same name or another. */
void session_list_unique(struct session_list *list);
void session_list_drop(struct session_list *list);

/* Ends the program if there are several sessions: `columns` are of one. */
void session_list_need_one(const struct session_list *list, const char *columns);

/* Ends the program if the options select a part, and there are several sessions. */
void session_list_need_whole(const struct session_list *list, const struct shared_options *shared);

/* Loads all sessions as one, each once; dwell.data if the list is empty. Ends the program if one cannot be read, or if
 * the options select a part of several sessions. */
void session_list_load(struct session_list *list, struct analysis *analysis, const struct shared_options *shared);

#endif
