/* dwell values --list: what can be read of a program's functions. */
#ifndef DWELL_COMMANDS_VALUES_LIST_H
#define DWELL_COMMANDS_VALUES_LIST_H

#include <stddef.h>

#include "commands/shared_options.h"

/* Prints what can be read of the functions FUNCTION[:WHAT,...]. Ends the program if one names nothing. */
void values_list(const char *program, const char *const *functions, size_t count, const struct shared_options *shared);

#endif
