/* Finds the functions of a session whose names match a text from the user. */
#ifndef DWELL_ANALYSIS_FIND_FUNCTION_H
#define DWELL_ANALYSIS_FIND_FUNCTION_H

#include "analysis/analysis.h"
#include "symbols/typed_name.h"

/* The functions with that full name or linkage name. If there are none, those with that name without return type or
 * parameters, then those that match the text as a glob, and then those with the text in their names. The text can end
 * in "@" and a place (typed_name.h). The functions are in the order of their modules. The caller frees the list. */
uint32_t *function_find_all(const struct analysis *analysis, const char *text, size_t *count);

/* Sets *function to the one function that matches the text. It is an error if there is none, or more than one. */
bool function_find(const struct analysis *analysis, const char *text, uint32_t *function, struct error *error);

/* Sets `found`, which is by function, for the one function that matches the text, or for all that match it as a glob.
 * It is an error if there is none, or if the text is no glob and matches more than one. */
bool function_find_each(const struct analysis *analysis, const char *text, bool *found, struct error *error);

/* Orders functions by their modules and places in them. Their numbers depend on how many threads read the session. */
int function_compare(const struct analysis *analysis, uint32_t x, uint32_t y);

/* What is known of a function whose name is `name`, at that address of its module. */
struct named_function function_named(const struct function_name *name, uint64_t address);

#endif
