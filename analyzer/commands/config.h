/* Options that a user always wants: lines "COMMAND.OPTION = VALUE" of $XDG_CONFIG_HOME/dwell/config. */
#ifndef DWELL_COMMANDS_CONFIG_H
#define DWELL_COMMANDS_CONFIG_H

#include <argp.h>
#include <stdbool.h>

#include "commands/option_names.h"

/* Whether the file may hold options of the command. */
bool config_takes(const char *command);

/* Returns the words of the command line with the options of the config file in front of those given, unless these
 * contain --no-config. Updates *argc. The caller frees the list, but not the words. Ends the program at a line of the
 * file that is not valid. */
char **config_prepend(const struct option_list *options, const char *command, int *argc, char **argv);

/* Says which parser reads the words, so that config_place knows how far it is; NULL if it is past the file's. */
void config_follow(const struct argp_state *state);

/* The place in the file of the option that is being parsed, such as "config:3"; NULL if it is not from the file. */
const char *config_place(void);

/* From now on, no option is from the file. */
void config_forget(void);

#endif
