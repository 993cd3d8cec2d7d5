/* Levels that another process sets. */
#ifndef DWELL_LEVELS_LEVEL_COMMAND_H
#define DWELL_LEVELS_LEVEL_COMMAND_H

#include <stdint.h>

#include "common.h"
#include "level.h"

#pragma GCC visibility push(hidden)

/* Sets levels as the levels chunk says whose offset in the session `fd` is `text`. Returns the number of functions
 * that this concerns, or a negative errno value. `stay_timed`: how many of them stay timed nevertheless
 * (levels_that_stay_timed). In the helper. */
int level_command(const char *text, int fd, uint32_t *stay_timed);

/* The same for DWELL_COMMAND_KEEP: the functions' watches (keep_calls.h). Returns the number of functions. */
int level_command_watch(const char *text, int fd);

/* For DWELL_COMMAND_VALUES: values are read as the plan chunk at that offset says. Returns 0 or an errno value. */
int level_command_values(const char *text, int fd);

/* The offset of the newest levels chunk with a pattern for libraries that are loaded later, or zero. */
uint64_t level_command_patterns(void);

/* For a process that begins: if it was forked, its patterns are those of its parent. */
void level_command_begin_process(void);

/* Calls `set` for the functions of a module that these patterns name, with their levels, in the order of the commands.
 * Waits for the recorder. */
void level_command_ask(struct text build_id, struct text path,
                       void (*set)(void *context, uint64_t offset, enum level level), void *context);

#pragma GCC visibility pop

#endif
