/* The waits of a session of mode profile, which has sums of them without order. */
#ifndef DWELL_CAUSES_TREE_CAUSES_H
#define DWELL_CAUSES_TREE_CAUSES_H

#include "causes/wait_causes.h"

/* Fills the list with a wait for each row of the session. Holders, joined threads and children are its causes. Sessions
 * without rows have one entry for each call path, and no causes. */
void tree_causes_find(struct wait_causes *c, const struct analysis *analysis);

#endif
