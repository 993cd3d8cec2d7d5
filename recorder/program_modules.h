/* The modules that a program has when it begins. */
#ifndef DWELL_RECORDER_PROGRAM_MODULES_H
#define DWELL_RECORDER_PROGRAM_MODULES_H

#include <stdbool.h>

#include "base/error.h"

/* Takes a module's path, which is valid only meanwhile. */
typedef void program_module_taker(void *context, const char *path);

/* Lists the program if it is a binary, and the libraries that it is linked with. A script has none: its interpreter
 * comes later. False if the loader cannot be asked; then the error is set. */
bool program_modules_list(const char *path, program_module_taker *take, void *context, struct error *error);

#endif
