/* Knows the functions that only wait, by name. Imported reports have no blocked times, so only the names of their
 * functions distinguish waiting from work. */
#ifndef DWELL_ANALYSIS_WAITING_NAMES_H
#define DWELL_ANALYSIS_WAITING_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/analysis.h"

/* Whether a function of that name only waits. The name can be decorated. */
bool is_waiting_name(const char *name);

/* Whether a function of an imported session only waits. Other sessions have blocked times; there it is false. */
bool has_waiting_name(const struct analysis *analysis, uint32_t function);

#endif
