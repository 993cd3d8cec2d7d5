/* The calls of the probes that processes of the session have found in modules, for the other ones: code is read once.
 */
#ifndef DWELL_LEVELS_LEVEL_SITES_H
#define DWELL_LEVELS_LEVEL_SITES_H

#include <stdbool.h>

#include "common.h"
#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* How many a process has found in a module with that build-id; zero if none has. */
uint32_t level_sites_count(struct text build_id);

/* Takes the sites of the module, whose key is complete: what the session has of the same build-id and the same key.
 * False if there is nothing that fits: then the module's sites are as before. */
bool level_sites_take(struct level_module *m);

/* Adds all sites of the module to the session, if they are not there. */
void level_sites_put(const struct level_module *m);

#pragma GCC visibility pop

#endif
