/* The functions of a session that a name, or a part of a name, means. */
#ifndef DWELL_ANALYSIS_FIND_FUNCTION_H
#define DWELL_ANALYSIS_FIND_FUNCTION_H

#include "analysis/analysis.h"

/* The functions of that whole name, which may end in "@module"; or else of that name without parameters; or else with
 * the text in their names. In the order of their modules. The caller frees the list. */
uint32_t *function_find_all(const struct analysis *l, const char *text, size_t *count);

/* Sets *function to the one function that the text means. It is an error if there is none, or more than one. */
bool function_find(const struct analysis *l, const char *text, uint32_t *function, struct error *error);

#endif
