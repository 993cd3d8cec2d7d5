/* The levels that a module's functions begin with. */
#ifndef DWELL_LEVELS_LEVEL_BEGIN_H
#define DWELL_LEVELS_LEVEL_BEGIN_H

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Sets the levels of a module that is loaded: those of the filters, whose number of it is `filter` or zero; then those
 * that it had when it was loaded before, or those that the session has; then those of the patterns of `dwell control`.
 * Under the levels' lock. */
void level_begin_module(struct level_module *m, uint32_t filter);

/* The values of the module's functions are read as the plan says (value_plan.h), or are no longer. */
void level_begin_values(struct level_module *m);

/* The patterns of `dwell control` hold for modules that are loaded after it, too. Asks the recorder for the functions
 * that they name, if there are new ones. */
void level_begin_patterns(struct level_module *m);

/* Whether the helper is to do that, while the program runs: it would take too long, unless level_read_known. */
bool level_begins_later(const struct level_module *m);

/* There is such a module. The helper does it when the program has used as much CPU time as it takes. */
void level_later_wait(void);

/* After how many milliseconds to look again: none if it is time, and -1 if there is no such module. Then it begins. */
long level_later_is_due(void);
void level_later_begins(void);

#pragma GCC visibility pop

#endif
