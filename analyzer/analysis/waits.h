/* Functions that only wait. A sample in such a function is not work. */
#ifndef DWELL_ANALYSIS_WAITS_H
#define DWELL_ANALYSIS_WAITS_H

#include <stdbool.h>

/* Whether that is the name of one, decorated or not. */
bool function_waits(const char *name);

#endif
