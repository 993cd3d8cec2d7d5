/* Levels of functions of libraries, whose calls lead to stubs (call_stubs.h). Their code is not rewritten: a level
 * holds from the next call on. */
#ifndef DWELL_LEVELS_LEVEL_LIBRARY_H
#define DWELL_LEVELS_LEVEL_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "level_table.h"

#pragma GCC visibility push(hidden)

/* The function gets the wanted level, if stubs call it and the process goes on; false if not. Under the levels' lock.
 */
bool level_library_use(struct level_slot *slot);

/* The exits of the function are watched as its slot says, if stubs call it. Under the levels' lock. */
void level_library_watch(const struct level_slot *slot);

/* Stubs call the function of a library from now on: they begin with the level that it is to have. `identity`: of the
 * library (modules_identity). Under the levels' lock, or before the program has threads. */
void level_library_begin(uint64_t function, uint32_t identity);

#pragma GCC visibility pop

#endif
