/* The parameters of functions in the debug information. */
#ifndef DWELL_ARGUMENTS_FUNCTION_PARAMETERS_H
#define DWELL_ARGUMENTS_FUNCTION_PARAMETERS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Calls `take` for each parameter, until it returns false. */
void function_each_parameter(const Dwarf_Die *function, bool (*take)(void *data, Dwarf_Die *parameter), void *data);

/* NULL if it has none. */
const char *parameter_name(Dwarf_Die *parameter);

bool function_find_parameter(const Dwarf_Die *function, const char *name, Dwarf_Die *parameter);

/* Whether the parameter of the function stands behind variables or code, or behind a parameter that follows in the
 * source. */
bool parameter_is_listed_late(const Dwarf_Die *function, Dwarf_Die *parameter);

/* Whether no source has it: it has no name, or GCC adds it to constructors and destructors of classes with virtual
 * bases, of which only some copies get it. */
bool parameter_is_hidden(Dwarf_Die *parameter);

#endif
