/* The step that analysis_load and analysis_load_several share. */
#ifndef DWELL_ANALYSIS_LOAD_PART_H
#define DWELL_ANALYSIS_LOAD_PART_H

#include "analysis/analysis.h"

/* Loads a session like analysis_load, but neither joins the call sites of a line nor narrows the session to the calls
 * of a function. */
bool load_session(struct analysis *l, const char *path, const struct analysis_options *options, struct error *error);

#endif
