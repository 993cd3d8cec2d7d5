/* Functions whose probes had another level than timed during a part of the recording (docs/levels.md). */
#ifndef DWELL_ANALYSIS_LEVEL_CHANGES_H
#define DWELL_ANALYSIS_LEVEL_CHANGES_H

#include "analysis/summary.h"
#include "trace/session_file.h"

/* "timed", "out" and so on. */
const char *level_name(uint32_t level);

/* Adds a remark that names functions which were not timed for the whole run, if there are any. */
void level_changes_remark(struct summary *s, const struct session_file *file);

#endif
