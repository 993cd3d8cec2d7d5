/*
 * Filters of modules that were not known when the program started: a program that is executed later, a library that is
 * loaded later. The process asks the recorder for them, and for levels that were set from outside. It also asks the
 * recorder to keep the files of modules.
 */
#ifndef DWELL_FILTER_ASK_H
#define DWELL_FILTER_ASK_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Returns the number that the filters give to a module; zero if the recorder does not answer. Waits for the recorder if
 * the module is new. Under the lock of the module map, with signals held back. */
uint32_t filter_of_module(struct text build_id, struct text path);

/* The recorder is to keep the file of a module open, as it may be removed or replaced before its names are read. The
 * texts are kept ones. Under the lock of the module map. */
void filter_note_keep(struct text build_id, struct text path);

/* Asks the recorder to keep the files that were noted. Waits until it has them, but not long: a library may be removed
 * as soon as dlopen has returned. Under the lock of the module map, with signals held back. */
void filter_ask_keep(void);

/* As the process ends: waits a little for the recorder, if it has not opened these files yet. With signals held back.
 */
void filter_end_process(void);

/* Asks the recorder which functions of a module the patterns of levels name that were set from outside. Returns the
 * offset of the first levels chunk to apply; zero if there is none. With signals held back. */
uint64_t filter_ask_levels(struct text build_id, struct text path);

/* Asks the recorder which slots of a module lead to functions of libraries whose calls are recorded. Returns the offset
 * of their plan (format_calls.h); zero if there is none. With signals held back. */
uint64_t filter_ask_calls(struct text build_id, struct text path);

#pragma GCC visibility pop

#endif
