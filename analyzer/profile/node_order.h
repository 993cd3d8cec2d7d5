/* An order of the nodes that depends only on what they are: nodes have their numbers by chance, as workers make them.
 */
#ifndef DWELL_PROFILE_NODE_ORDER_H
#define DWELL_PROFILE_NODE_ORDER_H

#include <stdint.h>

struct profile;

/* Lists all nodes: threads by their serial numbers, and the nodes of each level by level, callers first. The callees of
 * a node are ordered by module, then by address, then by call site. The caller frees the list. */
uint32_t *node_order_list(const struct profile *p);

#endif
