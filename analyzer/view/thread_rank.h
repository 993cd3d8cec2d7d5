/* The number that a thread has in a page. */
#ifndef DWELL_VIEW_THREAD_RANK_H
#define DWELL_VIEW_THREAD_RANK_H

#include "analysis/order.h"

/* By its serial number and its process'; -1: the profile has no such thread. */
int32_t thread_rank(const struct order *order, uint32_t process, uint32_t thread);

#endif
