/* Finds the functions of a session whose names match a text from the user. */
#ifndef DWELL_ANALYSIS_FIND_FUNCTION_H
#define DWELL_ANALYSIS_FIND_FUNCTION_H

#include "analysis/analysis.h"

/* The functions with that full name, which can end in "@module". If there are none, those with that name without
 * return type or parameters, and then those with the text in their names. They are in the order of their modules. The
 * caller frees the list. */
uint32_t *function_find_all(const struct analysis *l, const char *text, size_t *count);

/* Sets *function to the one function that matches the text. It is an error if there is none, or more than one. */
bool function_find(const struct analysis *l, const char *text, uint32_t *function, struct error *error);

#endif
