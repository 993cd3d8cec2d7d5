/* The steps that analysis_load, analysis_load_several and others that make an analysis share. */
#ifndef DWELL_ANALYSIS_LOAD_PART_H
#define DWELL_ANALYSIS_LOAD_PART_H

#include "analysis/analysis.h"

/* Loads a session like analysis_load, but joins neither the call sites of a line nor the copies of a function, and does
 * not narrow the session to the calls of a function. */
bool load_session(struct analysis *analysis, const char *path, const struct analysis_options *options,
                  struct error *error);

/* Joins the call sites of each line, and the copies of each function unless the options keep them apart. Makes the
 * rollup. */
void load_join(struct analysis *analysis, const struct analysis_options *options);

/* Makes an analysis without sessions, to which several are added. `name` stands for them all. Its times are in
 * nanoseconds. */
void load_begin_several(struct analysis *analysis, const char *name);

/* Makes the summary of an analysis that has a rollup from those of its parts. */
void load_summarize_several(struct analysis *all, const struct summary *parts, size_t count);

/* Counts the functions that were timed for a part of the run, if their other calls have no estimated time. Adds a
 * remark about them. */
void load_find_partly_timed(struct summary *summary, const struct analysis *analysis);

#endif
