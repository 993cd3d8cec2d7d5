/* Levels of the probes: whether a function's calls are recorded, or the calls of its probes are taken out of the code.
 */
#ifndef DWELL_LEVELS_LEVELS_H
#define DWELL_LEVELS_LEVELS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "levels/level.h"

#pragma GCC visibility push(hidden)

struct level_table;
extern struct level_table *levels_table; /* the functions that are not timed; NULL if none ever was */

/* The function's entry in the table, or NULL. */
const struct leveled_function *levels_find(const struct level_table *table, uint64_t function);

/* The function with its level; NULL if it is timed. Safe at any time. */
static inline const struct leveled_function *levels_function(uint64_t function)
{
    const struct level_table *table = __atomic_load_n(&levels_table, __ATOMIC_ACQUIRE);
    return UNLIKELY(table != NULL) ? levels_find(table, function) : NULL;
}

/* The function's level. Safe at any time. */
static inline enum level levels_of(uint64_t function)
{
    const struct leveled_function *f = levels_function(function);
    return UNLIKELY(f != NULL) ? f->level : LEVEL_TIMED;
}

/*
 * The modules that are loaded now, each time that this has changed: levels_begin, then levels_add for each module that
 * the filters name, then levels_apply for each of them while the loader cannot unmap it, then levels_end. Under the
 * lock of the module map, with signals held back.
 */
void levels_begin(void);
void levels_add(uint64_t bias, uint32_t filter);
void levels_apply(const struct dl_phdr_info *info);
void levels_end(void);

#pragma GCC visibility pop

#endif
