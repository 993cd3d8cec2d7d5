/* The options by which all views choose a part of the session, and rows of what they show of it. */
#ifndef DWELL_COMMANDS_SELECTION_OPTIONS_H
#define DWELL_COMMANDS_SELECTION_OPTIONS_H

#include <argp.h>

#include "analysis/analysis.h"
#include "report/views.h"

/* For argp's children. In ARGP_KEY_INIT, the command's own parser passes what they fill, zeroed at first, to
 * selection_options_begin. */
extern const struct argp_child selection_children[];
error_t selection_options_begin(struct argp_state *state, struct analysis_options *load, struct row_filters *filters);

/* The same for commands that show the whole session: row filters alone, */
extern const struct argp_child filter_children[];
error_t filter_options_begin(struct argp_state *state, struct row_filters *filters);

/* row filters and --raw, */
extern const struct argp_child filter_raw_children[];
error_t filter_raw_options_begin(struct argp_state *state, struct row_filters *filters, struct analysis_options *load);

/* and --raw alone, without and with the options of the config file. */
extern const struct argp_child raw_children[];
extern const struct argp_child raw_config_children[];
error_t raw_options_begin(struct argp_state *state, struct analysis_options *load);

#endif
