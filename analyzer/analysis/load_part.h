/* For load_several.c. */
#ifndef DWELL_ANALYSIS_LOAD_PART_H
#define DWELL_ANALYSIS_LOAD_PART_H

#include "analysis/analysis.h"

/* As analysis_load_selection, with each call site by itself. */
void analysis_load_part(struct analysis *l, const char *path, unsigned jobs, struct selection_request *request,
                        enum lines lines);

#endif
