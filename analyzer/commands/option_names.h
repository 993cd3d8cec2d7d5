/* Names of a command's long options: those that do not exist are told with what may have been meant. */
#ifndef DWELL_COMMANDS_OPTION_NAMES_H
#define DWELL_COMMANDS_OPTION_NAMES_H

#include <argp.h>

/* The option of that name, of the command or of what it shares with others; NULL: there is none. */
const struct argp_option *option_find(const struct argp *argp, const char *name);

/* "; did you mean '--columns'?", or else `otherwise`. */
const char *option_suggestion(const struct argp *argp, const char *name, const char *otherwise);

/* Ends the program at the first long option that the command does not have, as argp will look at them. `first_ends`:
 * what follows the first word that is no option is not the command's own. */
void option_names_check(const struct argp *argp, const char *command, int argc, char **argv, int first_ends);

#endif
