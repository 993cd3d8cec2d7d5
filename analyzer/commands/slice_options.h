/* The options by which all views choose a part of the session, and rows of what they show of it. */
#ifndef DWELL_COMMANDS_SLICE_OPTIONS_H
#define DWELL_COMMANDS_SLICE_OPTIONS_H

#include <argp.h>

#include "report/slices.h"
#include "report/views.h"

/* For argp's children. The command's own parser gives it a struct slice_request, zeroed at first: */
extern const struct argp_child slice_children[];

/* in ARGP_KEY_INIT. */
error_t slice_options_begin(struct argp_state *state, struct slice_request *request);

/* The same for those that show the whole: the rows alone, which are asked for in a struct row_filters. */
extern const struct argp_child filter_children[];
error_t filter_options_begin(struct argp_state *state, struct row_filters *filters);

/* For argp's children: --raw, where the command does not take slices, which have it. */
extern const struct argp_child raw_children[];

/* Loads that part of the session; ends the program where there is no such part. */
void slice_options_load(struct loaded *l, const char *path, unsigned jobs, struct slice_request *request);

#endif
