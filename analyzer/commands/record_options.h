/* The options of `dwell record`, read from the command line. */
#ifndef DWELL_COMMANDS_RECORD_OPTIONS_H
#define DWELL_COMMANDS_RECORD_OPTIONS_H

#include "commands/option_table.h"
#include "recorder/record_settings.h"

/* The options of dwell record alone, for commands that have them, too. They are stored in a struct record_settings. */
extern const struct option_row record_own_options[];

/* For struct command_line: keeps each option for the recordings of several runs, and checks them all at the end. */
void record_forward(void *settings, const struct option_row *row, const char *argument);
void record_check_options(void *settings);

/* Reads the options into *settings. Ends the program at an error. The caller passes them to record_settings_drop.
 */
void record_options_parse(struct record_settings *settings, int argc, char **argv);

#endif
