/* Keeps the probes' part of the program's time within a budget, while the program is recorded. A thread of
 * `dwell record` reads the session as it grows, and sets the levels of functions. */
#ifndef DWELL_COMMANDS_BUDGET_H
#define DWELL_COMMANDS_BUDGET_H

#include <stdint.h>

#include "session.h"

struct budget;

/* Starts the thread. `permille` is the budget: time of probes over the time without them. Zero: none, and NULL is
 * returned. The session and its descriptor must stay valid. */
struct budget *budget_start(const struct session *session, int fd, uint32_t permille);

/* Ends it. Does nothing with NULL. */
void budget_stop(struct budget *b);

#endif
