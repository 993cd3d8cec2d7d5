/* Keeps the probes' part of the program's time within a budget, while the program is recorded. A thread of
 * `dwell record` reads the session as it grows, and sets the levels of functions. */
#ifndef DWELL_RECORDER_BUDGET_H
#define DWELL_RECORDER_BUDGET_H

#include <stdint.h>

#include "recorder/filters.h"
#include "session.h"

struct budget;

/* Starts the thread. `permille` is the probes' budget: their time over the time without them. Zero: none, and NULL is
 * returned. `filters` has the functions that are counted at first, and those whose levels are given and stay. All
 * pointers and the descriptor must stay valid. */
struct budget *budget_start(const struct session *session, int fd, uint32_t permille, const struct filters *filters);

/* Ends it. Does nothing with NULL. */
void budget_stop(struct budget *b);

#endif
