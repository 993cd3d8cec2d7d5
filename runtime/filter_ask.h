/*
 * Filters of modules that were not known when the program started: a program that is executed later, a library that is
 * loaded later. The process asks the recorder for them.
 */
#ifndef DWELL_FILTER_ASK_H
#define DWELL_FILTER_ASK_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Returns the number that the filters give to a module; zero if the recorder does not answer. Waits for the recorder if
 * the module is new. Under the lock of the module map, with signals held back. */
uint32_t filter_of_module(struct text build_id, struct text path);

#pragma GCC visibility pop

#endif
