/* Levels that another process sets. */
#ifndef DWELL_LEVELS_LEVEL_COMMAND_H
#define DWELL_LEVELS_LEVEL_COMMAND_H

#pragma GCC visibility push(hidden)

/* Sets levels as the levels chunk says whose offset in the session `fd` is `text`. Returns the number of functions that
 * this concerns, or a negative errno value. In the helper. */
int level_command(const char *text, int fd);

#pragma GCC visibility pop

#endif
