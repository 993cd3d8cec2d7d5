/* The call paths of waits and of their causes. Functions of one name, module and line are one function, as in other
 * views. */
#ifndef DWELL_TABLES_CAUSE_PATHS_H
#define DWELL_TABLES_CAUSE_PATHS_H

#include "analysis/names.h"
#include "base/intern.h"
#include "profile/profile.h"

/* All zero at first. */
struct cause_path_numbers {
    struct intern names, paths;
};

/* The call paths of a profile. */
struct cause_paths {
    const struct profile *profile;
    const struct function_name *names;
    uint32_t *ids;    /* by node: equal paths of names have equal numbers */
    uint32_t *owners; /* by node: the innermost function that does not only pass a wait on, or PROFILE_NONE */
};

/* The number of a path that ends with this function, below the path of the number `parent`. */
uint32_t cause_path_number(struct cause_path_numbers *numbers, uint32_t parent, const struct function_name *name);

/* Of no profile if it is NULL. */
struct cause_paths cause_paths_of(struct cause_path_numbers *numbers, const struct profile *p,
                                  const struct function_name *names);

/* The names of a node's path, separated by semicolons. A path of more than `most` bytes loses its outermost functions.
 * The caller frees it. */
char *cause_path_text(const struct cause_paths *paths, uint32_t node, size_t most);

void cause_paths_drop(struct cause_paths *paths);
void cause_path_numbers_drop(struct cause_path_numbers *numbers);

#endif
