/* The numbers of threads in a page. */
#ifndef DWELL_VIEW_THREAD_RANK_H
#define DWELL_VIEW_THREAD_RANK_H

#include "analysis/order.h"

/* Finds a thread by its and its process' serial numbers. Returns -1 if the profile has no such thread. */
int32_t thread_rank(const struct order *order, uint32_t process, uint32_t thread);

/* By node of a profile of the session: its thread's rank, or -1. The caller frees the list. */
int32_t *thread_ranks_of_paths(const struct order *order, const struct profile *paths);

#endif
