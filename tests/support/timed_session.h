/* A recorded session whose calls take many different times. */
#ifndef DWELL_TESTS_TIMED_SESSION_H
#define DWELL_TESTS_TIMED_SESSION_H

#include <stdint.h>

enum { TIMED_SESSION_FUNCTION = 0x1000, TIMED_SESSION_THREADS = 3 };

/* Three threads call a function 400 times each, and from there the ones at two and three times its address, the latter
 * once a thread. `rate` is in ticks a second, and `cost` in ticks what probes take. */
void timed_session_save(const char *path, uint64_t id, uint64_t rate, uint32_t cost);

#endif
