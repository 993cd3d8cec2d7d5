/* Reading a module's code: where it calls the probes. Under the levels' lock. */
#ifndef DWELL_LEVELS_LEVEL_READ_H
#define DWELL_LEVELS_LEVEL_READ_H

#include <stdbool.h>

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Reads the module's code, and makes its stubs. `read` says whether the code could be read now. Returns NULL, or a
 * problem. */
const char *level_read_module(struct level_module *m, bool bare);

/* Finds the sites alone, in a module without a list of them. False if the code cannot be read now. */
bool level_read_sites(struct level_module *m, bool bare);

#pragma GCC visibility pop

#endif
