/* Which levels the session's records say that functions have. */
#ifndef DWELL_LEVELS_LEVEL_SEEN_H
#define DWELL_LEVELS_LEVEL_SEEN_H

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Records the levels of a module's functions that have changed since the last time. Under the levels' lock. */
void level_see_changes(struct level_module *m);

#pragma GCC visibility pop

#endif
