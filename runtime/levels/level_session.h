/* The levels that an overhead budget has set in the session so far. A process begins with them if the budget holds for
 * its program: if earlier processes of the same build have spent its allowance. */
#ifndef DWELL_LEVELS_LEVEL_SESSION_H
#define DWELL_LEVELS_LEVEL_SESSION_H

#include <stdbool.h>

#include "common.h"
#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* The program has this build-id, a kept text. Processes of a program without one do not begin with other levels. Under
 * the levels' lock. */
void level_session_begin_program(struct text build_id);

/* For a process that begins: the recorder is told which program it runs. A forked child has that of its parent. */
void level_session_begin_process(void);

/* Sets the levels of a module's functions. Returns whether there are any. Under the levels' lock. */
bool level_session_take(struct level_module *m);

/* The calling thread is in a forked child, which looks for levels that its parent does not have. Whether it has still
 * to do so, whether it can do so now, and that it has done so. It has to know its thread first, whose calls may be
 * open. */
void level_session_forked(void);
bool level_session_is_awaited(void);
bool level_session_is_due(void);
void level_session_looked(void);

#pragma GCC visibility pop

#endif
