/* Reading a module's code: where it calls the probes. Under the levels' lock. */
#ifndef DWELL_LEVELS_LEVEL_READ_H
#define DWELL_LEVELS_LEVEL_READ_H

#include <stdbool.h>

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Reads the module's code, and makes its stubs. Then `read` is set. `in_parts`: reads only the next part; `reading`
 * says whether there are more. If neither is set, the code cannot be read now. Returns NULL, or a problem. */
const char *level_read_module(struct level_module *m, bool bare, bool in_parts);

/* Reads the next part of the modules' code, so that their next change takes less time. Between parts, threads can fork,
 * load a library or end the process. Returns whether there are more. */
bool level_read_ahead(struct level_module *first);

/* Finds the sites alone, in a module without a list of them. False if the code cannot be read now. */
bool level_read_sites(struct level_module *m, bool bare);

#pragma GCC visibility pop

#endif
