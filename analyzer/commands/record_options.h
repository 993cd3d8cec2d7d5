/* The options of `dwell record`, read from the command line. */
#ifndef DWELL_COMMANDS_RECORD_OPTIONS_H
#define DWELL_COMMANDS_RECORD_OPTIONS_H

#include <argp.h>

#include "recorder/record_settings.h"

/* The options of dwell record alone, for commands that have them, too. The parser's input is a struct record_settings.
 */
extern const struct argp_option record_own_options[];
error_t record_parse_option(int key, char *argument, struct argp_state *state);

/* Reads the options into *settings. Ends the program at an error. The caller passes them to record_settings_drop.
 */
void record_options_parse(struct record_settings *settings, int argc, char **argv);

#endif
