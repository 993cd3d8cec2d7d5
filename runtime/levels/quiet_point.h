/* Whether an event of the calling thread shows that no earlier call of a probe is unfinished. */
#ifndef DWELL_LEVELS_QUIET_POINT_H
#define DWELL_LEVELS_QUIET_POINT_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* False in a signal handler, as that may have interrupted a probe, and where it is not known. `stack_pointer` is that
 * of the event. On a thread with a single stack. */
bool quiet_point(uint64_t stack_pointer);

#pragma GCC visibility pop

#endif
