/* Functions that are left with a recorded call open, such as the loop of an interpreter. Calls below that one need not
 * be recorded if each exit tells which call it ends, as it has the stack pointer of the enter (frames_ended). Such a
 * function is NESTED: its enters have its level, and its exits are checked until no recorded call of it is open. */
#ifndef DWELL_LEVELS_LEVEL_NESTED_H
#define DWELL_LEVELS_LEVEL_NESTED_H

#include <stdbool.h>

#include "levels/level_module.h"

#pragma GCC visibility push(hidden)

/* Looks at the calls of the probes in the module's code, if some LEAVING function has an open call. Returns whether it
 * has: then the functions' slots are up to date for level_nested_may_be. */
bool level_nested_find(struct level_module *m, const struct level_look *look);

/* Whether a LEAVING function can be NESTED, and would not be left soon without that. */
bool level_nested_may_be(const struct level_slot *slot, const struct level_look *look);

#pragma GCC visibility pop

#endif
