/* The step that analysis_load and analysis_load_several share. */
#ifndef DWELL_ANALYSIS_LOAD_PART_H
#define DWELL_ANALYSIS_LOAD_PART_H

#include "analysis/analysis.h"

/* Loads a session like analysis_load, but joins neither the call sites of a line nor the copies of a function, and does
 * not narrow the session to the calls of a function. */
bool load_session(struct analysis *l, const char *path, const struct analysis_options *options, struct error *error);

/* Joins the call sites of each line, and the copies of each function unless the options keep them apart. Makes the
 * rollup. */
void load_join(struct analysis *l, const struct analysis_options *options);

#endif
