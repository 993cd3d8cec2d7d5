/* Classes as values: what is empty, the one value that a class wraps, and the members that are shown of others. */
#ifndef DWELL_ARGUMENTS_CLASS_VALUES_H
#define DWELL_ARGUMENTS_CLASS_VALUES_H

#include "arguments/argument_type.h"

/* Whether the class has no members at all, as tags and comparisons have none. */
bool class_is_empty(Dwarf_Die *stripped);

/* The only member of a class that has no others, such as the pointer of an iterator or the count of a duration. It can
 * be a class of the C++ library that is a value. */
bool class_wrapped(Dwarf_Die *stripped, struct type_member *member);

/* Calls `take` with the paths of the first `most` members that have single values, also of members that are classes:
 * each begins with `prefix`, which ends with "." or "->". Returns their number. */
unsigned class_list_members(Dwarf_Die *stripped, const char *prefix, unsigned most,
                            void (*take)(void *data, const char *path), void *data);

#endif
