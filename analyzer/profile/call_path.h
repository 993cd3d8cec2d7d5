/* Finds recursive calls: nodes whose function and call site are also on the path above them. */
#ifndef DWELL_PROFILE_CALL_PATH_H
#define DWELL_PROFILE_CALL_PATH_H

#include "profile/profile.h"

/* The path to one node. It moves from node to node, so a look at the node next to the last one takes few steps. */
struct call_path;

struct call_path *call_path_new(const struct profile *p);
void call_path_free(struct call_path *path);

/* Whether the node is a recursive call. The profile may have grown since the last look. */
bool call_path_recurs(struct call_path *path, uint32_t node);

/* The same for all nodes of a profile. The caller frees the list. */
bool *call_path_find_recursive(const struct profile *p);

#endif
