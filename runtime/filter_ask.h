/*
 * Filters of modules that were not known when the program started: a program that is executed later, a library that is
 * loaded later. The process asks the recorder for them, and for levels that were set from outside.
 */
#ifndef DWELL_FILTER_ASK_H
#define DWELL_FILTER_ASK_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Returns the number that the filters give to a module; zero if the recorder does not answer. Waits for the recorder if
 * the module is new. Under the lock of the module map, with signals held back. */
uint32_t filter_of_module(struct text build_id, struct text path);

/* Asks the recorder which functions of a module the patterns of levels name that were set from outside. Returns the
 * offset of the first levels chunk to apply; zero if there is none. With signals held back. */
uint64_t filter_ask_levels(struct text build_id, struct text path);

#pragma GCC visibility pop

#endif
