/* Reading a module's code: where it calls the probes. Under the levels' lock. */
#ifndef DWELL_LEVELS_LEVEL_READ_H
#define DWELL_LEVELS_LEVEL_READ_H

#include <stdbool.h>

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Reads the module's code, and makes its stubs. Then `read` is set. `in_parts`: reads only the next part; `reading`
 * says whether there are more. If neither is set, the code cannot be read now. Returns NULL, or a problem. */
const char *level_read_module(struct level_module *m, bool bare, bool in_parts);

/* The same at once, if another process of the session has found the sites of this code, and if that is quick. Returns
 * whether they are known; level_read_module does the rest. */
bool level_read_known(struct level_module *m);

/* Reads the next part of the modules' code, so that their next change takes less time. Between parts, threads can fork,
 * load a library or end the process. Returns whether there are more. */
bool level_read_ahead(struct level_module *first);

/* Finds the sites alone, in a module without a list of them. False if the code cannot be read now. */
bool level_read_sites(struct level_module *m, bool bare);

/* Whether this is the only thread that runs the program's code: changes need no order then. */
bool level_is_alone(void);

#pragma GCC visibility pop

#endif
