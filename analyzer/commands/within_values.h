/* --within 'FUNCTION: WHAT > VALUE': the time of each thread in calls with such a recorded value. */
#ifndef DWELL_COMMANDS_WITHIN_VALUES_H
#define DWELL_COMMANDS_WITHIN_VALUES_H

#include <stdbool.h>

#include "analysis/analysis.h"
#include "trace/thread_ranges.h"

/* Whether the text is a condition on a value. */
bool within_is_value(const char *text);

/* Finds the completed calls of the session that meet any of the conditions in --within, as ranges of time that are not
 * joined yet. NULL if there is no such condition. Ends the program if a condition cannot be met. The caller frees it.
 */
struct thread_ranges *within_values_find(const char *path, const struct analysis_options *load);

#endif
