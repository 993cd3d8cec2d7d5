/* The options by which all views choose a part of the session, and rows of what they show of it. */
#ifndef DWELL_COMMANDS_SELECTION_OPTIONS_H
#define DWELL_COMMANDS_SELECTION_OPTIONS_H

#include <argp.h>

#include "analysis/selection_request.h"
#include "report/views.h"

/* For argp's children. The command's own parser gives it a struct selection_request, zeroed at first, and row filters:
 */
extern const struct argp_child selection_children[];

/* in ARGP_KEY_INIT. */
error_t selection_options_begin(struct argp_state *state, struct selection_request *request,
                                struct row_filters *filters);

/* The same for those that show the whole: the rows alone, which are asked for in a struct row_filters. */
extern const struct argp_child filter_children[];
error_t filter_options_begin(struct argp_state *state, struct row_filters *filters);

/* For argp's children: --raw, where the command does not take selections, which have it. */
extern const struct argp_child raw_children[];
extern const struct argp_child raw_config_children[]; /* and options of the config file, */
extern const struct argp_child filter_raw_children[]; /* and the rows, as filter_children */

/* Loads that part of the session; ends the program where there is no such part. */
void selection_options_load(struct analysis *l, const char *path, unsigned jobs, struct selection_request *request);

#endif
