/* Which modules count calls in place (in_place.h). All functions are called under the levels' lock. */
#ifndef DWELL_LEVELS_LEVEL_PLACES_H
#define DWELL_LEVELS_LEVEL_PLACES_H

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Lets calls of the module be counted in place. That has to wait for the first thread, and while a thread is not known.
 * Returns whether some calls can be that could not before. */
bool level_places_open(struct level_module *m);

/* Whether calls are counted in place that are not to be any more: there are too many threads, or one that cannot do so.
 * Any thread, any time. */
bool level_places_are_crowded(void);

/* No call of the listed modules is counted in place any more. False if the system does not let their code change. */
bool level_places_leave(struct level_module *first);

#pragma GCC visibility pop

#endif
