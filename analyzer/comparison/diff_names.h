/* The names by which functions and modules of sessions are compared. */
#ifndef DWELL_COMPARISON_DIFF_NAMES_H
#define DWELL_COMPARISON_DIFF_NAMES_H

#include "comparison/diff.h"

/* Programs of different names count as two versions of one program: the module of this session, and its other name. The
 * caller frees `from`. */
struct diff_renaming {
    char *from, *to; /* `to` is NULL if the program keeps its name */
};
struct diff_renaming diff_find_renaming(struct diff *d, enum diff_side side, const struct analysis *analysis);

/* A copy of the session's profile with names instead of paths and addresses, and with one thread and one process.
 * Functions and modules of the same name become one. The caller frees it. */
struct profile *diff_name_profile(struct diff *d, const struct analysis *analysis,
                                  const struct diff_renaming *renaming);

/* The keys of a module and a function of such a profile. */
uint32_t diff_common_module(struct diff *d, const struct profile *p, uint32_t module);
uint32_t diff_common_function(struct diff *d, const struct profile *p, uint32_t function);

#endif
