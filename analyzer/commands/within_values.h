/* --within 'FUNCTION: WHAT > VALUE' and --filter 'FUNCTION.WHAT > VALUE': the time of each thread in calls with such a
 * recorded value. Both options take both forms. */
#ifndef DWELL_COMMANDS_WITHIN_VALUES_H
#define DWELL_COMMANDS_WITHIN_VALUES_H

#include <stdbool.h>

#include "analysis/analysis.h"

/* Whether the text is a condition on a value. */
bool within_is_value(const char *text);

/* The same for --filter, which has conditions on columns besides. */
bool within_is_filter(const char *text);

/* Finds the completed calls of the session that meet the conditions in --within and --filter, and sets the ranges of
 * the request that is loaded, with the session's values; they are freed with the analysis. NULL where there is no such
 * condition. Ends the program if no call meets one. */
void within_values_find(const char *path, struct analysis_options *load);

#endif
