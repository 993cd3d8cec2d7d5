/* Which modules count calls in place (in_place.h). All functions are called under the levels' lock. */
#ifndef DWELL_LEVELS_LEVEL_PLACES_H
#define DWELL_LEVELS_LEVEL_PLACES_H

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Lets calls of the module be counted in place. That has to wait for the first thread, and while a thread is not known.
 * Returns whether some calls can be that could not before. */
bool level_places_open(struct level_module *m);

/* Whether there are too many threads, and calls are still counted in place. Any thread, any time. */
bool level_places_are_crowded(void);

/* Calls `work`, which brings the listed modules closer to what is wanted. If there are too many threads, that is that
 * no call is counted in place. */
void level_places_work(struct level_module *first, bool (*work)(void));

#pragma GCC visibility pop

#endif
