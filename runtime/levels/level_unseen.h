/* Calls whose exits are to be watched, or whose values are to be read, and cannot be. */
#ifndef DWELL_LEVELS_LEVEL_UNSEEN_H
#define DWELL_LEVELS_LEVEL_UNSEEN_H

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* After the module's calls were rewritten: what the session's reader has to know, or NULL. */
const char *level_unseen(const struct level_module *m);

#pragma GCC visibility pop

#endif
