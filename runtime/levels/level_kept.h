/* The levels of functions in libraries that were unloaded. They hold again when the same library is loaded again. */
#ifndef DWELL_LEVELS_LEVEL_KEPT_H
#define DWELL_LEVELS_LEVEL_KEPT_H

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Keeps the levels of a module that has been unloaded. Both functions are called under the levels' lock. */
void level_kept_put(const struct level_module *m);

/* Sets the levels of a module that has been loaded. False if none were kept. */
bool level_kept_take(struct level_module *m);

#pragma GCC visibility pop

#endif
