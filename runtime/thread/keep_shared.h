/* Windows of slow calls that all processes of the session keep (`--keep-others`), in its page 0. */
#ifndef DWELL_KEEP_SHARED_H
#define DWELL_KEEP_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Adds a window, in ticks. Nobody waits: a process may be killed at any time. */
void keep_shared_add(uint64_t begin, uint64_t end);

/* Whether a range of time belongs to one, or may belong to one. */
bool keep_shared_cover(uint64_t begin, uint64_t end);

#pragma GCC visibility pop

#endif
