/* The waits of a session of sums, whose causes were found when it was made. */
#ifndef DWELL_CAUSES_SUM_CAUSES_H
#define DWELL_CAUSES_SUM_CAUSES_H

#include "causes/wait_causes.h"

/* Fills the list with a wait for each row of the session. */
void sum_causes_find(struct wait_causes *c, const struct analysis *analysis);

#endif
