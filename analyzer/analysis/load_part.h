/* The step that analysis_load and analysis_load_several share. */
#ifndef DWELL_ANALYSIS_LOAD_PART_H
#define DWELL_ANALYSIS_LOAD_PART_H

#include "analysis/analysis.h"

/* Loads a session as analysis_load does, but does not join the call sites of one line, and does not narrow it to the
 * calls of a function. */
bool load_session(struct analysis *l, const char *path, const struct analysis_options *options, struct error *error);

#endif
