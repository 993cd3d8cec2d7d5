/* The levels that a module's functions begin with. */
#ifndef DWELL_LEVELS_LEVEL_BEGIN_H
#define DWELL_LEVELS_LEVEL_BEGIN_H

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Sets the levels of a module that is loaded: those of the filters, whose number of it is `filter` or zero; then those
 * that it had when it was loaded before, or those that the session has; then those of the patterns of `dwell control`.
 * Under the levels' lock. */
void level_begin_module(struct level_module *m, uint32_t filter);

/* The patterns of `dwell control` hold for modules that are loaded after it, too. Asks the recorder for the functions
 * that they name, if there are new ones. */
void level_begin_patterns(struct level_module *m);

/* Whether the helper is to do that, while the program runs: to read the module's code would take too long. */
bool level_begins_later(const struct level_module *m);

#pragma GCC visibility pop

#endif
