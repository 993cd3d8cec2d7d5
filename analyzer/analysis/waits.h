/* Knows the functions that only wait. A sample in such a function is not work. */
#ifndef DWELL_ANALYSIS_WAITS_H
#define DWELL_ANALYSIS_WAITS_H

#include <stdbool.h>

/* Whether a function of that name only waits. The name can be decorated. */
bool function_waits(const char *name);

#endif
