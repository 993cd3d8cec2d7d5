/* Options that a user always wants: lines "COMMAND.OPTION = VALUE" of $XDG_CONFIG_HOME/dwell/config. */
#ifndef DWELL_COMMANDS_CONFIG_H
#define DWELL_COMMANDS_CONFIG_H

#include <argp.h>

/* Parses the options of that file for the command, then those given, which come behind them; unless --no-config is
 * among the latter. Ends the program at a line that cannot be understood. */
void parse_options_with_config(const struct argp *argp, const char *name, int argc, char **argv, void *input);

/* An option for argp's children of each of these commands: --no-config. */
extern const struct argp config_argp;
extern const struct argp_child config_children[]; /* the same for commands without other children */

#endif
