/*
 * Copies of one source function. Each object file that uses a `static inline` function of a header can have a copy of
 * it, and C++ compilers make two functions of one constructor. Views show all copies as one function.
 */
#ifndef DWELL_ANALYSIS_COPIES_H
#define DWELL_ANALYSIS_COPIES_H

#include "analysis/names.h"

/* Whether enough is known of a function to find its copies: its file, line and linkage name. */
bool copies_is_known(const struct function_name *name);

/* Whether it is the destructor that frees the object, too. It calls the destructor of the same name, so it is no copy
 * of that. The linkage name must be known. */
bool copies_is_deleting(const struct function_name *name);

/* Finds the functions of one name, module, source file and line. Returns by function the copy with the lowest address,
 * which represents all. Returns NULL if no function has copies. The caller frees the list. */
uint32_t *copies_find(const struct profile *p, const struct function_name *names);

/* A profile in which calls of all copies are calls of one function. Its functions are in the order in which each had
 * its first copy. All addresses of the copies find the function. The caller frees the profile. */
struct profile *copies_join(const struct profile *p, const uint32_t *representatives);

/* The names of the joined profile's functions. The caller frees the list, but its texts belong to `names`. */
struct function_name *copies_names(const struct profile *joined, const struct profile *p,
                                   const struct function_name *names, const uint32_t *representatives);

#endif
