/* Functions that wait and do nothing else. Samples of them are no work, though they look like it. */
#ifndef DWELL_ANALYSIS_WAITS_H
#define DWELL_ANALYSIS_WAITS_H

#include <stdbool.h>

/* Whether the name is one of theirs, decorated or not. */
bool function_waits(const char *name);

#endif
