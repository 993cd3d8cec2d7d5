/* For load_several.c. */
#ifndef DWELL_REPORT_LOAD_PART_H
#define DWELL_REPORT_LOAD_PART_H

#include "report/views.h"

/* As load_slice, with each call site by itself. */
void load_part(struct loaded *l, const char *path, unsigned jobs, struct slice_request *request, enum lines lines);

#endif
