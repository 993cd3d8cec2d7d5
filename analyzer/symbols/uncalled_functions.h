/* Functions that a stub may not call in place of their callers. */
#ifndef DWELL_SYMBOLS_UNCALLED_FUNCTIONS_H
#define DWELL_SYMBOLS_UNCALLED_FUNCTIONS_H

#include <stdbool.h>

/* Why calls of the library function of that name are left alone; NULL if they are not. */
const char *uncalled_reason(const char *name);

/* Whether the C library's function of that name takes any number of arguments. */
bool uncalled_is_variadic(const char *name);

#endif
