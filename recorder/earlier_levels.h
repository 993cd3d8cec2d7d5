/* The levels of probes that an earlier recording ended with, for `dwell record --levels-from`. */
#ifndef DWELL_RECORDER_EARLIER_LEVELS_H
#define DWELL_RECORDER_EARLIER_LEVELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dwell/format.h"
#include "symbols/symbols.h"

struct earlier_levels;

/* Reads the levels from a session. Returns NULL and sets the error if the session cannot be read. */
struct earlier_levels *earlier_levels_read(const char *path, struct error *error);

/* Does nothing with NULL. */
void earlier_levels_free(struct earlier_levels *e);

/* The number of functions that were counted or out at the end of the session. */
size_t earlier_levels_count(const struct earlier_levels *e);

/* The number of these that earlier_levels_find and earlier_levels_next have not found yet. */
size_t earlier_levels_missing(const struct earlier_levels *e);

/* The level of a function of a module that is recorded now. The offset identifies the function if the build is the
 * same. In another build of a module of the same file name, the linkage name does; it is NULL if unknown. Functions
 * without an earlier level are timed. */
enum dwell_level_of_probes earlier_levels_find(struct earlier_levels *e, const struct symbol_module *module,
                                               uint64_t offset, const char *name);

/* The functions of the same build that earlier_levels_find was not asked for, since they have no symbol. Returns the
 * level of the next one, or DWELL_PROBES_TIMED if there are no more. *place is zero at first. */
enum dwell_level_of_probes earlier_levels_next(struct earlier_levels *e, const struct symbol_module *module,
                                               size_t *place, uint64_t *offset);

/* Notes that the recording begins with this function counted because of its earlier level. */
void earlier_levels_apply(struct earlier_levels *e, const struct symbol_module *module, uint64_t offset);

/* Whether the function was noted. Safe in any thread, also while others are noted. */
bool earlier_levels_applied(struct earlier_levels *e, const struct symbol_module *module, uint64_t offset);

#endif
