/*
 * Makes an analysis of what the store answers, so that the views of sessions show it. The store adds up the rows of
 * runs; here are only as many rows as there are functions, modules or call paths.
 */
#ifndef DWELL_FLEET_ANSWER_H
#define DWELL_FLEET_ANSWER_H

#include "analysis/analysis.h"
#include "fleet/runs.h"

/* The sums of functions or modules, without call paths: for view_rows of BY_FUNCTION or BY_MODULE. */
bool fleet_answer_sums(struct analysis *l, const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                       enum rollup_by by, struct error *error);

/* The sums of call paths, with which all views of call trees work. Copies of functions are joined as in sessions unless
 * the options keep them apart. */
bool fleet_answer_paths(struct analysis *l, const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                        const struct analysis_options *options, struct error *error);

#endif
