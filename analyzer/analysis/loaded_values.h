/* The recorded values of a loaded session, which are read when they are asked for first. */
#ifndef DWELL_ANALYSIS_LOADED_VALUES_H
#define DWELL_ANALYSIS_LOADED_VALUES_H

#include "analysis/analysis.h"
#include "trace/recorded_values.h"

/* They belong to the analysis. There are none if it is of several sessions. */
const struct recorded_values *loaded_values(const struct analysis *analysis);

/* Takes them from an analysis of the session, which has them no longer. They are for the request of another one. */
struct loaded_values *loaded_values_take(struct analysis *analysis);

/* The same of an open session. *values is made if it is NULL. */
const struct recorded_values *loaded_values_of(struct loaded_values **values, const struct session_file *file);

/* For modules that make an analysis: values that are not read yet, unless the request has them. */
void loaded_values_begin(struct analysis *analysis);
void loaded_values_drop(struct loaded_values *values);

#endif
